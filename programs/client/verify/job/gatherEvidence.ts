import { setTimeout as delay } from 'node:timers/promises';
import type { Connection, PublicKey } from '@solana/web3.js';
import type { Addresses } from '../../addresses.ts';
import { readClock } from '../ledgerState.ts';
import { type Evidence, type JobAccount, placeEvents, type Unread } from './evidence.ts';
import { gatherCreditEvents } from './gatherCreditEvents.ts';
import { gatherWorkerRecords } from './gatherWorkerRecords.ts';
import { createLedgerReader, type LedgerReader } from './ledgerReader.ts';
import { findLookalikes } from './lookalikes.ts';
import { readHistory } from './readHistory.ts';
import { readJobAccount } from './readJobAccount.ts';
import { type JobEvent, jobEvents } from './record.ts';
import type { LedgerTransaction } from './transaction.ts';

/** A job that changes while it is read is read again, this often at most. */
const ROUNDS_MAX = 5;
/** About a slot: by then a node that was a little behind has caught up. */
const ROUND_MS = 400;

/** A worker's authority signs little else, and a credit account's very next change tells mostly. */
export const HISTORY_MAX = 1_000;

/**
 * Asks a ledger's node for everything about one job, and judges nothing of it. Needs neither the
 * service nor its database.
 *
 * @param options.historyMax how many transactions of the worker's authority, and changes of the
 *   credit account, are looked at for what was so before the job
 */
export async function gatherEvidence(options: {
  connection: Connection;
  addresses: Addresses;
  job: PublicKey;
  historyMax?: number;
}): Promise<Evidence> {
  const { connection, addresses, job, historyMax = HISTORY_MAX } = options;
  const reader = createLedgerReader(connection, addresses.programId);
  const { account, slot, transactions, unread } = await readOneMoment(options, reader);
  const events = transactions.flatMap(placeEvents);
  return {
    ...{ addresses, job, account, slot, transactions, unread },
    creditEvents: await gatherCreditEvents({ reader, job, events, historyMax }),
    worker: await gatherWorkerRecords({
      ...{ connection, addresses, reader, job, events, historyMax },
    }),
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
  options: { connection: Connection; addresses: Addresses; job: PublicKey },
  reader: LedgerReader,
): Promise<History & { account: JobAccount; slot: bigint }> {
  for (let round = 1; ; round += 1) {
    const history = await readTransactions(reader, options.job);
    const { account, slot } = await readJobAccount(options);
    const newest = jobEvents(history.transactions, options.job).at(-1);
    if (isOneMoment(account, newest) || round === ROUNDS_MAX) return { account, slot, ...history };
    await delay(ROUND_MS);
  }
}

function isOneMoment(account: JobAccount, newest: JobEvent | undefined): boolean {
  if (account.kind === 'job') return account.data.sequence === newest?.data.jobSequence;
  return account.kind !== 'none' || newest === undefined || newest.name === 'JobClosed';
}

async function readTransactions(reader: LedgerReader, job: PublicKey): Promise<History> {
  const transactions: LedgerTransaction[] = [];
  const unread: Unread[] = [];
  for await (const found of readHistory(reader, job)) {
    if ('unread' in found) unread.push(found.unread);
    else if (concerns(found.transaction, job)) transactions.push(found.transaction);
  }
  return { transactions: transactions.reverse(), unread };
}

/** Anybody can mention a job, any number of times: what says nothing about it is not kept. */
function concerns(transaction: LedgerTransaction, job: PublicKey): boolean {
  return jobEvents([transaction], job).length > 0 || findLookalikes(transaction, job).length > 0;
}
