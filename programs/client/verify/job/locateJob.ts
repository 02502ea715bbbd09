import { base58 } from '@scure/base';
import { PublicKey } from '#platform';
import { accountFilter } from '../../accounts.ts';
import { type Addresses, isOnCurve } from '../../addresses.ts';
import { accountFieldOffset } from '../../codec.ts';
import { parseJobId } from '../../jobId.ts';
import { areKeysEqual, tryDecodeBase58 } from '../../keys.ts';
import type { LedgerConnection } from '../../ledgerConnection.ts';
import { COMMITMENT } from '../ledgerState.ts';
import { type PlacedEvent, placeEvents } from './evidence.ts';
import { findLocks, JobNotLocatedError, type SearchBounds } from './findLock.ts';
import { createLedgerReader, readJobAccount } from './ledgerReader.ts';

const JOB_ID_AT = accountFieldOffset('Job', 'job_id');
const ADDRESS_BYTES = 32;
const SIGNATURE_BYTES = 64;

/**
 * Finds a job's address.
 *
 * @param named a job id, a job's address, or the signature of a transaction that changed one job
 * @param wallet whose job: needed for a transaction that changed jobs of several wallets, and for an
 *   id once the job's account is closed
 * @param search finds such an id in the history, within these bounds
 */
export async function locateJob(options: {
  connection: LedgerConnection;
  addresses: Addresses;
  named: string;
  wallet?: PublicKey | undefined;
  search?: SearchBounds | undefined;
}): Promise<PublicKey> {
  const { connection, addresses, named, wallet, search } = options;
  const jobId = parseJobId(named);
  if (jobId) {
    return wallet
      ? addresses.job(addresses.creditAccount(wallet), jobId)
      : findById({ connection, addresses, jobId, search });
  }
  const bytes = tryDecodeBase58(named);
  if (bytes?.length === ADDRESS_BYTES) {
    const job = new PublicKey(bytes);
    await assertMayBeJob({ connection, addresses, job });
    return job;
  }
  if (bytes?.length === SIGNATURE_BYTES) return findBySignature(options);
  throw new JobNotLocatedError(
    `${named} is neither a job id, nor an address, nor a transaction's signature.`,
  );
}

/** Before a history is read that may be as long as the ledger: the token program's, or a wallet's. */
async function assertMayBeJob(options: Parameters<typeof readJobAccount>[0]): Promise<void> {
  const noJob = (reason: string) =>
    new JobNotLocatedError(`There is no job at ${options.job}. ${reason}`);
  if (isOnCurve(options.job.toBytes())) throw noJob('It is the address of a key pair.');
  const { account } = await readJobAccount(options);
  if (account.kind === 'foreign') throw noJob(`The account belongs to ${account.owner}.`);
  if (account.kind === 'unreadable') throw noJob(account.reason);
}

async function findById(options: {
  connection: LedgerConnection;
  addresses: Addresses;
  jobId: Uint8Array;
  search: SearchBounds | undefined;
}): Promise<PublicKey> {
  const { connection, addresses, jobId, search } = options;
  const open = await connection.getProgramAccounts(addresses.programId, {
    commitment: COMMITMENT,
    dataSlice: { offset: 0, length: 0 },
    filters: [accountFilter('Job'), { memcmp: { offset: JOB_ID_AT, bytes: base58.encode(jobId) } }],
  });
  const found = open.map(({ pubkey }) => pubkey);
  if (found.length === 0 && search) found.push(...(await findLocks({ ...options, search })));
  const [only, other] = found;
  if (!only) {
    const searched = search ? ', and the node shows no lock of it' : '';
    throw new JobNotLocatedError(
      `No account has this job id${searched}. If the job is closed, name its wallet: --wallet.`,
    );
  }
  if (other) {
    throw new JobNotLocatedError('Jobs of several wallets have this id: name one with --wallet.');
  }
  return only;
}

async function findBySignature(options: Parameters<typeof locateJob>[0]): Promise<PublicKey> {
  const { connection, addresses, named, wallet } = options;
  const reader = createLedgerReader(connection, addresses.programId);
  const found = await reader.read(named);
  if ('unread' in found) {
    throw new JobNotLocatedError("The ledger's node does not show this transaction.");
  }
  const events = placeEvents(found.transaction);
  const all = jobsIn(events);
  if (all.length === 0) throw new JobNotLocatedError('This transaction changed no job.');
  const own = jobsIn(events.filter(({ data }) => 'wallet' in data && isSame(data.wallet, wallet)));
  const [only = '', ...others] = own.length > 0 ? own : all;
  if (others.length > 0) {
    throw new JobNotLocatedError(`This transaction changed several jobs: ${all.join(', ')}.`);
  }
  return new PublicKey(only);
}

const isSame = (key: PublicKey, wallet: PublicKey | undefined): boolean =>
  wallet !== undefined && areKeysEqual(key, wallet);

/** The addresses of the jobs that these events changed. */
function jobsIn(events: readonly PlacedEvent[]): string[] {
  return [...new Set(events.flatMap(({ data }) => ('job' in data ? [data.job.toBase58()] : [])))];
}
