import type { Database } from '../../../common/postgres.ts';
import type { Tier } from '../../../programs/client/generated/vocabulary.ts';
import type { EventData, EventKind } from '../../../webhooks/events.ts';
import type { LedgerEvent } from '../../fold/event.ts';
import { type CreditAlerts, lockMovedAlerts } from './creditAlerts.ts';

/** What one kind of event says, and to whose webhooks. */
export interface Message<Kind extends EventKind> {
  /** Null: everybody's. */
  readonly wallet: string | null;
  readonly data: Readonly<EventData[Kind]>;
}

/** An event for webhooks, and the ledger's event that it follows from. */
export type OutgoingEvent = {
  [Kind in EventKind]: Message<Kind> & { readonly kind: Kind; readonly event: LedgerEvent };
}[EventKind];

/** What a job keeps all its life. */
interface JobTerms {
  readonly wallet: string;
  readonly model_id: string;
  readonly tier: Tier;
}

/** What ledger events refer to without saying it. */
export interface EventContext {
  readonly database: Database;
  /** By address. */
  readonly jobs: ReadonlyMap<string, JobTerms>;
  /** Model ids by address. */
  readonly modelIds: ReadonlyMap<string, string>;
  /** The attempts of completed jobs that were acknowledged before, as `attemptOf` names them. */
  readonly acknowledged: ReadonlySet<string>;
  /** Of the wallets whose balances the events move. */
  readonly alerts: CreditAlerts;
  /** All events that are announced together. */
  readonly events: readonly LedgerEvent[];
}

/**
 * Looks up what the events refer to. That never changes, so it does not matter when it is read. The
 * alerts of their wallets are locked.
 */
export async function readContext(
  database: Database,
  events: readonly LedgerEvent[],
): Promise<EventContext> {
  const [jobs, modelIds, acknowledged, alerts] = await Promise.all([
    selectJobs(
      database,
      events.flatMap(({ data }) => ('job' in data ? data.job : [])),
    ),
    selectModelIds(
      database,
      events.flatMap((event) => (event.name === 'WorkerHosted' ? event.data.model : [])),
    ),
    selectAcknowledged(
      database,
      events.flatMap((event) =>
        event.name === 'JobCompleted' && event.data.jobSequence > SEQUENCE_AFTER_LOCK
          ? event.data.job
          : [],
      ),
    ),
    lockMovedAlerts(database, events),
  ]);
  return { database, events, jobs, modelIds, acknowledged, alerts };
}

/** Of a job that was completed right after its lock: nothing acknowledged it before. */
const SEQUENCE_AFTER_LOCK = 2;

/** Names an attempt at a job. */
export function attemptOf({ job, attempt }: { job: string; attempt: number }): string {
  return `${job} ${attempt}`;
}

async function selectAcknowledged(
  database: Database,
  jobs: string[],
): Promise<EventContext['acknowledged']> {
  if (jobs.length === 0) return new Set();
  const { rows } = await database.query<{ job: string; attempt: number }>({
    name: 'select_acknowledged',
    text: `
      select change.address as job, (data ->> 'attempt')::integer as attempt
      from account_changes change
      join journal using (signature, instruction_index, inner_index)
      where change.address = any($1) and folded and event_name = 'JobAcknowledged'`,
    values: [jobs],
  });
  return new Set(rows.map(attemptOf));
}

async function selectJobs(database: Database, addresses: string[]): Promise<EventContext['jobs']> {
  if (addresses.length === 0) return new Map();
  const { rows } = await database.query<JobTerms & { address: string }>({
    name: 'select_job_terms',
    text: 'select address, wallet, model_id, tier from jobs where address = any($1)',
    values: [addresses],
  });
  return new Map(rows.map((row) => [row.address, row]));
}

async function selectModelIds(
  database: Database,
  addresses: string[],
): Promise<EventContext['modelIds']> {
  if (addresses.length === 0) return new Map();
  const { rows } = await database.query<{ address: string; id: string }>(
    'select address, id from models where address = any($1)',
    [addresses],
  );
  return new Map(rows.map(({ address, id }) => [address, id]));
}
