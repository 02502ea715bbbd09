import type { PublicKey } from '@solana/web3.js';
import type { EventName, Events } from '../../events.ts';
import { type ClientEvidence, type Evidence, type PlacedEvent, placeEvents } from './evidence.ts';
import type { LedgerTransaction } from './transaction.ts';

/** The events that are part of a job's own sequence. */
export type JobEventName = {
  [Name in EventName]: Events[Name] extends { job: PublicKey; jobSequence: number } ? Name : never;
}[EventName];

export type JobEvent = PlacedEvent<JobEventName>;

/** The evidence, with the job's events picked out of it. */
export interface JobRecord extends Evidence, ClientEvidence {
  /** In the order of their sequence numbers. */
  readonly events: readonly JobEvent[];
  /**
   * Whether nothing is missing: each change of a job adds one to its sequence, and the last one is
   * known from the account or because it closed the account. Then what is not here did not happen,
   * whatever a node left out of its answers.
   */
  readonly isComplete: boolean;
}

export function createRecord(evidence: Evidence, client: ClientEvidence): JobRecord {
  const events = jobEvents(evidence.transactions, evidence.job);
  return { ...evidence, ...client, events, isComplete: isComplete(events, evidence) };
}

/** The job's own events, in the order of their sequence numbers. */
export function jobEvents(transactions: readonly LedgerTransaction[], job: PublicKey): JobEvent[] {
  return transactions
    .flatMap(placeEvents)
    .filter((event): event is JobEvent => isOfJob(event, job))
    .sort((one, other) => one.data.jobSequence - other.data.jobSequence);
}

export function eventsNamed<Name extends JobEventName>(
  { events }: Pick<JobRecord, 'events'>,
  name: Name,
): PlacedEvent<Name>[] {
  return events.filter((event): event is PlacedEvent<Name> & JobEvent => event.name === name);
}

function isOfJob({ data }: PlacedEvent, job: PublicKey): boolean {
  return 'job' in data && data.job.equals(job);
}

function isComplete(events: readonly JobEvent[], { account }: Evidence): boolean {
  const isContiguous = events.every(({ data }, index) => data.jobSequence === index + 1);
  const isEndKnown =
    events.at(-1)?.name === 'JobClosed' ||
    (account.kind === 'job' && account.data.sequence === events.length);
  return events.length > 0 && isContiguous && isEndKnown;
}

/** The transactions that changed the job, as the evidence of rules about its whole history. */
export function changingTransactions({ events }: JobRecord): LedgerTransaction[] {
  return [...new Set(events.map(({ transaction }) => transaction))];
}
