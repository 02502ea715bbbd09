import { type Connection, type PublicKey, SystemProgram } from '@solana/web3.js';
import { decodeAccount } from '../../accounts.ts';
import type { Addresses } from '../../addresses.ts';
import { COMMITMENT, readClock } from '../ledgerState.ts';
import { type Evidence, type JobAccount, placeEvents, type Unread } from './evidence.ts';
import { gatherCreditEvents } from './gatherCreditEvents.ts';
import { gatherWorkerRecords } from './gatherWorkerRecords.ts';
import { createLedgerReader, type LedgerReader } from './ledgerReader.ts';
import type { LedgerTransaction } from './transaction.ts';

/** A job that changes while it is read is read again, this often at most. */
const ROUNDS_MAX = 5;

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
  const { account, transactions, unread } = await readUnchanged(options, reader);
  const events = transactions.flatMap(placeEvents);
  return {
    ...{ addresses, job, account, transactions, unread },
    creditEvents: await gatherCreditEvents({ reader, job, events, historyMax }),
    workerRecords: await gatherWorkerRecords({
      ...{ connection, addresses, reader, job, events, historyMax },
    }),
    now: await readClock(connection),
  };
}

interface History {
  account: JobAccount;
  transactions: LedgerTransaction[];
  unread: Unread[];
}

/** The account before and after its transactions are listed: equal, unless something happened. */
async function readUnchanged(
  { connection, addresses, job }: { connection: Connection; addresses: Addresses; job: PublicKey },
  reader: LedgerReader,
): Promise<History> {
  let before = await readAccount(connection, addresses.programId, job);
  for (let round = 1; ; round += 1) {
    const history = await readTransactions(reader, job);
    const after = await readAccount(connection, addresses.programId, job);
    const isUnchanged = sequenceOf(before) === sequenceOf(after);
    if (isUnchanged || round === ROUNDS_MAX) return { account: after, ...history };
    before = after;
  }
}

function sequenceOf(account: JobAccount): number | undefined {
  return account.kind === 'job' ? account.data.sequence : undefined;
}

async function readTransactions(reader: LedgerReader, job: PublicKey) {
  const transactions: LedgerTransaction[] = [];
  const unread: Unread[] = [];
  for await (const { signature } of reader.list(job)) {
    const found = await reader.read(signature);
    if ('transaction' in found) transactions.push(found.transaction);
    else unread.push(found.unread);
  }
  return { transactions: transactions.reverse(), unread };
}

async function readAccount(
  connection: Connection,
  programId: PublicKey,
  job: PublicKey,
): Promise<JobAccount> {
  const found = await connection.getAccountInfo(job, COMMITMENT);
  // After the closing anybody can send lamports there.
  if (!found || (found.owner.equals(SystemProgram.programId) && found.data.length === 0)) {
    return { kind: 'none' };
  }
  if (!found.owner.equals(programId)) return { kind: 'foreign', owner: found.owner };
  try {
    const { name, data } = decodeAccount(found.data);
    if (name === 'Job') return { kind: 'job', data };
    return { kind: 'unreadable', reason: `The account is a ${name}, not a job.` };
  } catch (error) {
    return { kind: 'unreadable', reason: `${(error as Error).message}.` };
  }
}
