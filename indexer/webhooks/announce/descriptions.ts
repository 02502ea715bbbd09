import type { Database } from '../../../common/postgres.ts';
import type { EventName } from '../../../programs/client/events.ts';
import type { Tier } from '../../../programs/client/generated/vocabulary.ts';
import type { LedgerEvent } from '../../fold/event.ts';
import { balanceAfter, creditLow, describeCreditBought, moveCreditAlert } from './credits.ts';
import {
  describeDisputeExpired,
  describeDisputeResolved,
  describeJobDisputed,
} from './disputes.ts';
import {
  describeJobAcknowledged,
  describeJobFailed,
  describeJobLocked,
  describeJobRefunded,
  describeJobSettled,
} from './jobs.ts';
import type { Describe, Facts, Occurrence } from './occurrence.ts';
import { describeWorkerRegistered } from './workers.ts';

export const descriptions: { readonly [Name in EventName]?: Describe<Name> } = {
  JobLocked: describeJobLocked,
  JobAcknowledged: describeJobAcknowledged,
  JobSettled: describeJobSettled,
  JobFailed: describeJobFailed,
  JobRefunded: describeJobRefunded,
  JobDisputed: describeJobDisputed,
  CreditBought: describeCreditBought,
  WorkerRegistered: describeWorkerRegistered,
  DisputeResolved: describeDisputeResolved,
  DisputeExpired: describeDisputeExpired,
};

/** Whether webhooks are told of events of this kind, directly or by what follows from them. */
export function isAnnounced({ name }: LedgerEvent): boolean {
  return name in descriptions || name === 'CreditWithdrawn' || name === 'ClaimPaid';
}

/**
 * What webhooks are told of one event: what it is by itself, and `credit.low` when it is the one
 * that took a balance below its threshold, which is noted in the same database transaction.
 */
export async function occurrencesOf(
  database: Database,
  event: LedgerEvent,
  facts: Facts,
): Promise<Occurrence[]> {
  const describe = descriptions[event.name] as Describe<EventName> | undefined;
  const described = [describe?.(event, facts) ?? []].flat();
  const occurrences: Occurrence[] = described.map((notice) => ({ ...notice, event }));
  const balance = await balanceAfter(database, event);
  if (!balance) return occurrences;
  const thresholdCredits = await moveCreditAlert(database, balance);
  if (thresholdCredits === null) return occurrences;
  return [...occurrences, creditLow(event, balance, thresholdCredits)];
}

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
