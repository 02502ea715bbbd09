import { PublicKey } from '#platform';
import { decodeEventData, type EventName, type Events } from '../../events.ts';
import type { JobStatus } from '../../generated/vocabulary.ts';
import { includesBytes } from '../../platform/bytes.ts';
import type { ClientEvidence } from './clientEvidence.ts';
import {
  type Evidence,
  type LedgerTransaction,
  type PlacedEvent,
  placeEvents,
} from './evidence.ts';

/** The events that are part of a job's own sequence. */
export type JobEventName = {
  [Name in EventName]: Events[Name] extends { job: PublicKey; jobSequence: number } ? Name : never;
}[EventName];

export type JobEvent = PlacedEvent<JobEventName>;

/** The evidence, with the job's events picked out of it. */
export interface JobRecord extends Evidence, ClientEvidence {
  /** In the order of their sequence numbers. */
  readonly events: readonly JobEvent[];
  /** The same, with the steps of a JobCompleted in its place. */
  readonly steps: readonly JobEvent[];
  /**
   * Whether nothing is missing. Each change of a job adds one to its sequence, and the last sequence
   * is that of the account, or of its closing. Then what is not here did not happen, even if a node
   * leaves out of its answers.
   */
  readonly isComplete: boolean;
}

export function createRecord(evidence: Evidence, client: ClientEvidence): JobRecord {
  const events = jobEvents(evidence.transactions, evidence.job);
  const steps = stepsOf(events);
  return { ...evidence, ...client, events, steps, isComplete: isComplete(events, evidence) };
}

/**
 * A JobCompleted says what an acknowledgement, a proof and a settlement say, and rules judge these. Its
 * acknowledgement is left out where the attempt was acknowledged before.
 */
export function stepsOf(events: readonly JobEvent[]): JobEvent[] {
  let acknowledged: number | undefined;
  return events.flatMap((event) => {
    if (event.name === 'JobAcknowledged') acknowledged = event.data.attempt;
    if (event.name !== 'JobCompleted') return [event];
    const data = { ...event.data, ...NO_PROOF };
    const isKnown = data.attempt === acknowledged;
    return [
      ...(isKnown ? [] : [{ ...event, name: 'JobAcknowledged' as const, data }]),
      { ...event, name: 'JobProven' as const },
      { ...event, name: 'JobSettled' as const },
    ];
  });
}

/** Whether two steps are those of one JobCompleted. */
export function isOneEvent(one: PlacedEvent, other: PlacedEvent): boolean {
  return (
    one.transaction === other.transaction &&
    one.instructionIndex === other.instructionIndex &&
    one.innerIndex === other.innerIndex
  );
}

/** What an acknowledgement says when it puts no proof aside. */
export const NO_PROOF = {
  voidedWorker: PublicKey.default,
  voidedAttempt: 0,
  voidedOutputHash: new Uint8Array(32),
};

/** The job's own events, in the order of their sequence numbers. */
export function jobEvents(transactions: readonly LedgerTransaction[], job: PublicKey): JobEvent[] {
  return transactions
    .flatMap(placeEvents)
    .filter((event) => isOfJob(event, job))
    .sort((one, other) => one.data.jobSequence - other.data.jobSequence);
}

export function eventsNamed<Name extends JobEventName>(
  { steps }: Pick<JobRecord, 'steps'>,
  name: Name,
): PlacedEvent<Name>[] {
  return steps.filter((event): event is PlacedEvent<Name> & JobEvent => event.name === name);
}

export function isOfJob(event: PlacedEvent, job: PublicKey): event is JobEvent {
  return 'job' in event.data && event.data.job.equals(job);
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

const RUNNING: readonly JobStatus[] = ['pending', 'processing', 'settling'];

interface Step {
  /** The states in which it can happen; undefined before the lock. */
  readonly from: readonly (JobStatus | undefined)[];
  /** The state after it; undefined where that stays. */
  readonly to: JobStatus | undefined;
}

/** What each thing that happens to a job does: the table of ARCHITECTURE.md. */
const STEPS: Readonly<Record<JobEventName, Step>> = {
  JobLocked: { from: [undefined], to: 'pending' },
  JobAcknowledged: { from: RUNNING, to: 'processing' },
  JobProven: { from: ['processing'], to: 'settling' },
  JobSettled: { from: ['settling'], to: 'settled' },
  JobCompleted: { from: ['pending', 'processing'], to: 'settled' },
  JobFailed: { from: RUNNING, to: 'failed' },
  JobRefunded: { from: RUNNING, to: 'refunded' },
  JobDisputed: { from: ['settled'], to: 'disputed' },
  DisputeAmended: { from: ['disputed'], to: 'disputed' },
  DisputeResolved: { from: ['disputed'], to: 'refunded' },
  DisputeExpired: { from: ['disputed'], to: 'settled' },
  JobClosed: { from: ['settled', 'failed', 'refunded'], to: undefined },
};

/** @param status undefined before the lock */
export function isPossible(name: JobEventName, status: JobStatus | undefined): boolean {
  return STEPS[name].from.includes(status);
}

/**
 * The state after an event.
 *
 * @param status the state before it
 */
export function statusAfter(event: JobEvent, status: JobStatus = 'pending'): JobStatus {
  const isRejected = event.name === 'DisputeResolved' && event.data.verdict === 'rejected';
  return isRejected ? 'settled' : (STEPS[event.name].to ?? status);
}

/** The state that a job's events, in their order, leave behind. */
export function statusOf(events: readonly JobEvent[]): JobStatus {
  let status: JobStatus | undefined;
  for (const event of events) status = statusAfter(event, status);
  return status ?? 'pending';
}

/** What a wallet's credit account held at some point of its history. */
export interface Balances {
  readonly availableCredits: bigint;
  readonly lockedCredits: bigint;
  /** The day's sum; undefined where the events that were read do not say it. */
  readonly spentTodayCredits?: bigint | undefined;
}

/** The credit account's sequence after an event; undefined when the event is not about it. */
export function creditSequence(
  { data }: PlacedEvent,
  creditAccount: PublicKey,
): bigint | undefined {
  if ('creditSequence' in data && data.creditAccount.equals(creditAccount)) {
    return data.creditSequence;
  }
  return 'claimant' in data && data.claimant.equals(creditAccount)
    ? data.claimantSequence
    : undefined;
}

/**
 * The balances of a credit account before the change that made its sequence `sequence`. Not every
 * event has both, so the history is walked back, without a gap, until both are known.
 *
 * @returns undefined when the events do not reach back far enough
 */
export function balancesBefore(
  events: readonly PlacedEvent[],
  creditAccount: PublicKey,
  sequence: bigint,
): Balances | undefined {
  const bySequence = new Map(
    events.map((event) => [creditSequence(event, creditAccount), event] as const),
  );
  let known: Partial<Balances> = {};
  for (let at = sequence - 1n; at > 0n; at -= 1n) {
    const event = bySequence.get(at);
    if (event === undefined) return undefined;
    known = { ...statedBalances(event), ...known };
    const { availableCredits, lockedCredits, spentTodayCredits } = known;
    if (availableCredits !== undefined && lockedCredits !== undefined) {
      return { availableCredits, lockedCredits, spentTodayCredits };
    }
  }
  return undefined;
}

function statedBalances({ name, data }: PlacedEvent): Partial<Balances> {
  if (name === 'CreditOpened') {
    return { availableCredits: 0n, lockedCredits: 0n, spentTodayCredits: 0n };
  }
  if (name === 'ClaimPaid') return { availableCredits: data.availableCredits };
  if ('accountLockedCredits' in data) {
    const { availableCredits, accountLockedCredits: lockedCredits, spentTodayCredits } = data;
    return { availableCredits, lockedCredits, spentTodayCredits };
  }
  if ('availableCredits' in data) {
    return { availableCredits: data.availableCredits, lockedCredits: data.lockedCredits };
  }
  return {};
}

/** Bytes that look like an event of the job, written by another program. */
interface Lookalike {
  readonly name: JobEventName;
  readonly sequence: number;
  /** The program whose instruction it is. */
  readonly writer: string;
}

export function findLookalikes(transaction: LedgerTransaction, job: PublicKey): Lookalike[] {
  return transaction.instructions.flatMap((outer, instructionIndex) =>
    [outer, ...outer.inner].flatMap(({ data, programId }, index) => {
      const isEvent = transaction.events.some(
        (event) => event.instructionIndex === instructionIndex && event.innerIndex === index - 1,
      );
      if (isEvent || !includesBytes(data, job.toBytes())) return [];
      return read(data, programId, job);
    }),
  );
}

function read(bytes: Uint8Array, writer: string, job: PublicKey): Lookalike[] {
  try {
    const { name, data } = decodeEventData(bytes);
    if (!('job' in data) || !data.job.equals(job)) return [];
    return [{ name: name as JobEventName, sequence: data.jobSequence, writer }];
  } catch {
    // An ordinary instruction that names the job.
    return [];
  }
}
