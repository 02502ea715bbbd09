import type { ConfirmedSignatureInfo, PublicKey } from '@solana/web3.js';
import { accountRow, blankRow } from '../../common/database/mirrorTables.ts';
import type { Database } from '../../common/postgres.ts';
import { isEnded } from '../../programs/client/accounts.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import {
  type DecodedEvent,
  decodeEvents,
  type ExecutedTransaction,
} from '../../programs/client/events.ts';
import type { Job, JobProven } from '../../programs/client/generated/types.ts';
import type { JobStatus } from '../../programs/client/generated/vocabulary.ts';
import { parseJobId } from '../../programs/client/jobId.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import { getTransaction } from '../../programs/client/rpc/methods.ts';
import { VERSION_MAX } from '../../programs/client/wire/index.ts';
import { type JobRow, selectJob } from '../sql/jobs.ts';
import type { ModelRow } from '../sql/workers.ts';
import { type LedgerContext, readJob, retryRead } from './context.ts';
import type { SettlementRecord } from './job.ts';
import { jobDeadlines } from './lockOnLedger.ts';
import { failOnLedger } from './refundOnLedger.ts';

/** What names a job: ids are unique within a wallet. */
export interface JobKey {
  wallet: string;
  jobId: string;
}

/** Where a job is on the ledger; undefined when the id is none. */
function locate(addresses: Addresses, { wallet, jobId }: JobKey) {
  const bytes = parseJobId(jobId);
  if (!bytes) return undefined;
  const creditAccount = addresses.creditAccount(publicKeyOf(wallet));
  return { creditAccount, address: addresses.job(creditAccount, bytes) };
}

/** A job's status. `closed`: its account is gone, and the mirror does not have its end yet. */
export type LookedUpStatus = JobStatus | 'closed';

/**
 * Finds a job's status: in the mirror when it has ended there, else on the ledger, which is never
 * behind. Undefined when neither ever had the job.
 */
export function createStatusLookup(options: { database: Database; context: LedgerContext }) {
  const { database, context } = options;
  const { addresses, connection, commitment } = context;
  return async (key: JobKey): Promise<LookedUpStatus | undefined> => {
    const mirrored = (await selectJob(database, key))?.status as JobStatus | undefined;
    if (mirrored && isEnded(mirrored)) return mirrored;
    const place = locate(addresses, key);
    if (!place) return mirrored;
    const job = await readJob(context, place.address);
    if (job) return job.status;
    const traces = await retryRead(context, () =>
      connection.getSignaturesForAddress(place.address, {}, commitment),
    );
    // Anybody may close a job that is over, also while the indexer is away.
    return traces.some(({ err }) => err === null) ? 'closed' : mirrored;
  };
}

/**
 * Ends a job whose process is gone, unless it has ended already. Its time may be over, or its process
 * may settle it in the same moment.
 */
export function createOrphanEnd(context: LedgerContext) {
  return async (key: JobKey): Promise<LookedUpStatus> => {
    const { wallet, jobId: id } = key;
    const place = locate(context.addresses, key);
    if (!place) throw new Error(`${id} is no job id`);
    const job = await readJob(context, place.address);
    if (!job) return 'closed';
    const { lockedAt } = job;
    const deadlines = jobDeadlines({
      lockedAtEarliest: lockedAt,
      lockedAtLatest: lockedAt,
      timeoutSeconds: BigInt(job.jobTimeoutSeconds),
    });
    const endable = { id, ...place, wallet, deadlines };
    // Where a worker has the job, its process may have been paused, and go on too late.
    const reason = job.attempt > 0 ? 'lease_lost' : 'orphaned';
    const { status, isClosed } = await failOnLedger(context, endable, reason);
    return isClosed ? 'closed' : status;
  };
}

/** So many transactions of a job are looked through for an event, the newest first. */
const TRANSACTIONS_MAX = 8;

/**
 * What the event of a job's settlement says; undefined where there is none.
 *
 * @param signature the settlement's, where it is known
 * @throws LedgerUnavailableError
 */
export async function readSettlement(
  context: LedgerContext,
  key: JobKey,
  signature: string | null,
): Promise<SettlementRecord | undefined> {
  const job = locate(context.addresses, key)?.address;
  if (!job) return undefined;
  for await (const { event, signature: settlement_tx } of eventsOf(context, job, signature)) {
    const { name, data } = event;
    const isSettled = name === 'JobSettled' || name === 'JobCompleted';
    if (!isSettled || !data.job.equals(job)) continue;
    return { settlement_tx, available_credits: data.availableCredits };
  }
  return undefined;
}

/**
 * The proof that a worker recorded alone for a job's attempt; undefined where none is found.
 *
 * @throws LedgerUnavailableError
 */
export async function readRecorded(
  context: LedgerContext,
  { job, attempt }: { job: PublicKey; attempt: number },
): Promise<JobProven | undefined> {
  for await (const { event } of eventsOf(context, job)) {
    const { name, data } = event;
    if (name === 'JobProven' && data.job.equals(job) && data.attempt === attempt) return data;
  }
  return undefined;
}

/**
 * The program's events in a job's last transactions, which may name other jobs, too.
 *
 * @param signature of the only transaction to read, where it is known
 */
async function* eventsOf(
  context: LedgerContext,
  job: PublicKey,
  signature: string | null = null,
): AsyncGenerator<{ signature: string; event: DecodedEvent }, void> {
  const { connection, commitment } = context;
  const list = () =>
    connection.getSignaturesForAddress(job, { limit: TRANSACTIONS_MAX }, commitment);
  const listed = signature ? [{ signature, err: null }] : await retryRead(context, list);
  for (const { signature: of } of listed.filter(({ err }) => err === null)) {
    const events = await retryRead(context, () => readEvents(context, of));
    for (const event of events) yield { signature: of, event };
  }
}

/** @throws while the node does not show what it lists */
async function readEvents(
  { rpc, commitment, addresses }: LedgerContext,
  signature: string,
): Promise<DecodedEvent[]> {
  // Anybody can name the job in a transaction of any version.
  const options = { commitment, maxSupportedTransactionVersion: VERSION_MAX };
  const shown = (await getTransaction(rpc, signature, options)) as ExecutedTransaction | null;
  if (!shown?.meta?.innerInstructions) {
    throw new Error('The node does not show what a transaction did');
  }
  return decodeEvents(shown, addresses.programId);
}

export type UnmirroredJobs = ReturnType<typeof createUnmirroredJobs>;

/** Finds jobs on the ledger that the mirror has not seen yet. */
export function createUnmirroredJobs(
  context: LedgerContext,
  listModels: () => readonly ModelRow[],
) {
  const { connection, addresses, commitment } = context;

  /** @throws while the node's lists are behind its accounts */
  async function findLock(job: PublicKey): Promise<ConfirmedSignatureInfo> {
    const signatures = await connection.getSignaturesForAddress(job, {}, commitment);
    // A lock that lost a race is listed, too; the same job is locked by the next one.
    const lock = signatures.findLast(({ err }) => err === null);
    if (!lock) throw new Error('The node lists no transaction of a job that it knows');
    return lock;
  }

  return {
    /** @throws LedgerUnavailableError */
    async find(key: JobKey): Promise<JobRow | undefined> {
      const address = locate(addresses, key)?.address;
      const job = address && (await readJob(context, address));
      const model = job && listModels().find((one) => one.address === job.model.toBase58());
      if (!model) return undefined;
      const lock = await retryRead(context, () => findLock(address));
      return rowOf(job, { address: address.toBase58(), modelId: model.id, lock });
    },
  };
}

/** The row that the mirror will have. Signatures other than the lock's are not on the account. */
function rowOf(
  job: Job,
  known: { address: string; modelId: string; lock: ConfirmedSignatureInfo },
): JobRow {
  const { address, modelId, lock } = known;
  const onLedger = { ...blankRow('jobs'), ...accountRow('Job', job) };
  const fromLock = { escrow_tx: lock.signature, escrow_slot: BigInt(lock.slot) };
  return { ...onLedger, ...fromLock, address, model_id: modelId } as unknown as JobRow;
}
