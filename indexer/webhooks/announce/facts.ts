import type { Database } from '../../../common/postgres.ts';
import type { Tier } from '../../../programs/client/vocabulary.ts';
import type { LedgerEvent } from '../../decode.ts';
import type { Facts } from './occurrence.ts';
import { isAnnounced } from './occurrences.ts';

/** Looks up what the events refer to. Both never change, so it does not matter when they are read. */
export async function readFacts(
  database: Database,
  events: readonly LedgerEvent[],
): Promise<Facts> {
  const jobs = events.flatMap((event) =>
    isAnnounced(event) && 'job' in event.data ? event.data.job : [],
  );
  const models = events.flatMap((event) => (event.name === 'WorkerHosted' ? event.data.model : []));
  const [found, modelIds] = await Promise.all([
    selectJobs(database, jobs),
    selectModelIds(database, models),
  ]);
  return { events, jobs: found, modelIds };
}

async function selectJobs(database: Database, addresses: string[]): Promise<Facts['jobs']> {
  if (addresses.length === 0) return new Map();
  const { rows } = await database.query<{
    address: string;
    wallet: string;
    model_id: string;
    tier: Tier;
  }>({
    name: 'select_job_facts',
    text: 'select address, wallet, model_id, tier from jobs where address = any($1)',
    values: [addresses],
  });
  return new Map(rows.map((row) => [row.address, row]));
}

async function selectModelIds(database: Database, addresses: string[]): Promise<Facts['modelIds']> {
  if (addresses.length === 0) return new Map();
  const { rows } = await database.query<{ address: string; id: string }>(
    'select address, id from models where address = any($1)',
    [addresses],
  );
  return new Map(rows.map(({ address, id }) => [address, id]));
}
