import type { PublicKey } from '@solana/web3.js';
import { delay } from '../../../../common/wait.ts';
import { fetchWorker } from '../../accounts.ts';
import type { Addresses } from '../../addresses.ts';
import type { LedgerConnection } from '../../ledgerConnection.ts';
import { COMMITMENT, readClock } from '../ledgerState.ts';
import {
  type Evidence,
  type JobAccount,
  type LedgerTransaction,
  type PlacedEvent,
  placeEvents,
  type Unread,
  type WorkerEvidence,
} from './evidence.ts';
import { createLedgerReader, type LedgerReader, readJobAccount } from './ledgerReader.ts';
import {
  balancesBefore,
  creditSequence,
  findLookalikes,
  isOfJob,
  type JobEvent,
  jobEvents,
  stepsOf,
} from './record.ts';

/** A worker's authority signs little else, and mostly a credit account's very next change suffices. */
export const HISTORY_MAX = 1_000;

/** A job that changes while it is read is read again, this often at most. */
const ROUNDS_MAX = 5;

/** Two slots: by then a node that was a little behind has caught up. */
const ROUND_MS = 400;

/**
 * Asks a ledger's node for everything about one job, and judges nothing of it. Needs neither the
 * service nor its database.
 *
 * @param options.historyMax how many transactions of the worker's authority, and changes of the
 *   credit account, are read to find their states before the job
 * @param options.wait waits so many milliseconds before a job that has just changed is read again
 */
export async function gatherEvidence(options: {
  connection: LedgerConnection;
  addresses: Addresses;
  job: PublicKey;
  historyMax?: number;
  wait?: (ms: number) => Promise<void>;
}): Promise<Evidence> {
  const { connection, addresses, job, historyMax = HISTORY_MAX } = options;
  const reader = createLedgerReader(connection, addresses.programId);
  const { account, slot, transactions, unread } = await readOneMoment(options, reader);
  const events = transactions.flatMap(placeEvents);
  const earlier = { connection, addresses, reader, job, events, historyMax };
  return {
    addresses,
    job,
    account,
    slot,
    transactions,
    unread,
    creditEvents: await gatherCreditEvents(earlier),
    worker: await gatherWorkerRecords(earlier),
    now: await readClock(connection),
  };
}

interface History {
  transactions: LedgerTransaction[];
  unread: Unread[];
}

/**
 * The account and the transactions that left it so. Something may happen between the two readings,
 * and behind one address there may be several nodes of which one is behind.
 */
async function readOneMoment(
  options: Parameters<typeof gatherEvidence>[0],
  reader: LedgerReader,
): Promise<History & { account: JobAccount; slot: bigint }> {
  const { wait = delay } = options;
  for (let round = 1; ; round += 1) {
    const history = await readTransactions(reader, options.job);
    const { account, slot } = await readJobAccount(options);
    const newest = jobEvents(history.transactions, options.job).at(-1);
    if (isOneMoment(account, newest) || round === ROUNDS_MAX) return { account, slot, ...history };
    await wait(ROUND_MS);
  }
}

function isOneMoment(account: JobAccount, newest: JobEvent | undefined): boolean {
  if (account.kind === 'job') return account.data.sequence === newest?.data.jobSequence;
  return account.kind !== 'none' || newest === undefined || newest.name === 'JobClosed';
}

async function readTransactions(reader: LedgerReader, job: PublicKey): Promise<History> {
  const transactions: LedgerTransaction[] = [];
  const unread: Unread[] = [];
  for await (const found of reader.history(job)) {
    if ('unread' in found) unread.push(found.unread);
    else if (concerns(found.transaction, job)) transactions.push(found.transaction);
  }
  return { transactions: transactions.reverse(), unread };
}

/** Anybody can mention a job, any number of times: what says nothing about it is not kept. */
function concerns(transaction: LedgerTransaction, job: PublicKey): boolean {
  return jobEvents([transaction], job).length > 0 || findLookalikes(transaction, job).length > 0;
}

/** By what the states before the job are found. */
interface Earlier {
  readonly connection: LedgerConnection;
  readonly addresses: Addresses;
  readonly reader: LedgerReader;
  readonly job: PublicKey;
  /** All of the job's transactions. */
  readonly events: readonly PlacedEvent[];
  /** How many changes, or the authority's transactions, are looked at. */
  readonly historyMax: number;
}

/**
 * The events of the job's credit account, each with the one before it, so that every change of the
 * balances can be checked. Anybody can name the account: only transactions that changed it count.
 */
async function gatherCreditEvents(options: Earlier): Promise<PlacedEvent[]> {
  const { reader, job, events, historyMax } = options;
  const creditAccount = events.flatMap(({ name, data }) =>
    name === 'JobLocked' && data.job.equals(job) ? [data.creditAccount] : [],
  )[0];
  if (!creditAccount) return [];
  const known = [...events];
  for (const { data, transaction } of events) {
    if (!('accountLockedCredits' in data) || !data.job.equals(job)) continue;
    let changes = 0;
    const isKnown = () => balancesBefore(known, creditAccount, data.creditSequence) !== undefined;
    if (isKnown()) continue;
    const range = { before: transaction.signature };
    for await (const earlier of reader.history(creditAccount, range)) {
      if (!('transaction' in earlier)) continue;
      const made = placeEvents(earlier.transaction);
      if (made.every((event) => creditSequence(event, creditAccount) === undefined)) continue;
      known.push(...made);
      changes += 1;
      if (isKnown() || changes === historyMax) break;
    }
  }
  return known;
}

type WorkerRecord = PlacedEvent<'WorkerRegistered' | 'WorkerUpdated'>;

/**
 * How the ledger recorded the keys of the job's last worker: from the last record before the first
 * proof or settlement to the last. They are read from the transactions of the worker's authority,
 * which alone can change them. Those of the worker itself would be all jobs that it ever did.
 *
 * Anybody can name the authority: what it did not sign, and what came after the job, does not count.
 * An authority that is a program's address, such as a multisig's vault, signs by its program alone.
 *
 * @returns nothing when the job was never proven
 */
async function gatherWorkerRecords(options: Earlier): Promise<WorkerEvidence> {
  const { connection, addresses, reader, job, events, historyMax } = options;
  const proofs = stepsOf(events.filter((event) => isOfJob(event, job))).filter(
    (step) => step.name === 'JobProven' || step.name === 'JobSettled',
  );
  const last = proofs.at(-1);
  const nothing = { records: [], hasGaps: false, account: undefined };
  if (!last) return nothing;
  const slotMax = last.transaction.slot;
  const { programId } = addresses;
  const { worker } = last.data;
  // A proof by another worker was put aside.
  const first = proofs.find(({ data }) => data.worker.equals(worker)) ?? last;
  const account = await fetchWorker(connection, worker, { commitment: COMMITMENT, programId });
  if (!account) return nothing;
  const records: WorkerRecord[] = [];
  let hasGaps = false;
  let signed = 0;
  for await (const found of reader.history(account.authority, { slotMax })) {
    if ('unread' in found) {
      hasGaps = true;
      continue;
    }
    const { transaction } = found;
    const made = recordsIn(placeEvents(transaction), worker);
    const isSigned = transaction.signers.some((signer) => signer.equals(account.authority));
    if (!isSigned && made.length === 0) continue;
    signed += 1;
    records.unshift(...made);
    const isReached = records.some(({ transaction }) => transaction.slot < first.transaction.slot);
    if (isReached || signed === historyMax) break;
  }
  return { records, hasGaps, account };
}

function recordsIn(events: readonly PlacedEvent[], worker: PublicKey): WorkerRecord[] {
  return events.filter(
    (event): event is WorkerRecord =>
      (event.name === 'WorkerRegistered' || event.name === 'WorkerUpdated') &&
      event.data.worker.equals(worker),
  );
}
