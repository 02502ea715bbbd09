import { isoTime, isoTimeOrNull, sha256Text } from '../../common/format.ts';
import type { Database } from '../../common/postgres.ts';
import { isEnded } from '../../programs/client/accounts.ts';
import type { JobStatus } from '../../programs/client/generated/vocabulary.ts';
import { ApiError, serviceUnavailable } from '../contracts/errors.ts';
import type { DisputeAnswer } from '../contracts/job.ts';
import type { DisputeOnLedger, DisputeResult } from '../ledger/disputeOnLedger.ts';
import type { UnmirroredJobs } from '../ledger/jobLookup.ts';
import { type JobRow, selectDisputeLimit, selectJob } from '../sql/jobs.ts';
import type { JobWatch } from './jobWatch.ts';

const SECONDS_PER_HOUR = 3_600n;
/** A dispute that is sent with the last token finds its job still settling. */
const SETTLEMENT_WAIT_MS = 10_000;
/** How long an answer waits for the mirror, so that the job reads as the answer says. */
const MIRROR_WAIT_MS = 3_000;

interface DisputeServices {
  database: Database;
  unmirrored: UnmirroredJobs;
  watch: JobWatch;
  ledger: DisputeOnLedger;
}

export type Disputes = ReturnType<typeof createDisputes>;

/** Disputes of a wallet's jobs. */
export function createDisputes(services: DisputeServices) {
  const { database, ledger, watch } = services;
  return {
    /**
     * Opens a dispute when the hashes differ.
     *
     * @param request.clientHash lower-case hex
     * @throws ApiError job_not_found, dispute_already_open, job_not_settled, dispute_window_expired,
     *   dispute_limit_reached, spender_not_set or service_unavailable, checked in this order
     * @throws LedgerUnavailableError
     */
    async open(request: {
      wallet: string;
      jobId: string;
      clientHash: string;
    }): Promise<DisputeAnswer> {
      const { wallet, jobId, clientHash } = request;
      const job = await findEnded(services, { wallet, jobId });
      if (job.client_hash !== null) throw alreadyOpen(jobId);
      const { settled_at, output_hash } = job;
      if (job.status !== 'settled' || settled_at === null || output_hash === null) {
        throw new ApiError('job_not_settled', `The job is ${job.status}; nothing was charged.`, {
          details: { job_id: jobId, status: job.status },
        });
      }
      const windowEndsAt = settled_at + BigInt(job.dispute_window_seconds);
      const nowSeconds = await ledger.readSeconds();
      if (nowSeconds > windowEndsAt) throw windowExpired(jobId, windowEndsAt);
      const hashes = { your_hash: sha256Text(clientHash), worker_hash: sha256Text(output_hash) };
      if (clientHash === output_hash) {
        const message =
          'No dispute was opened: the hashes are equal, so you received what the worker proved.';
        return { job_id: jobId, dispute_opened: false, ...hashes, message };
      }
      const opened = await ledger.open({ ...job, wallet }, clientHash);
      if (opened.status === 'limit reached') throw await limitReached(database, { wallet, jobId });
      if (opened.status !== 'opened') throw refusal(jobId, opened.status, windowEndsAt);
      watch.hint(opened.signature);
      const isShown = ({ dispute_tx }: { dispute_tx: string | null }) => dispute_tx !== null;
      await watch.waitFor(job.address, isShown, { timeoutMs: MIRROR_WAIT_MS });
      return {
        job_id: jobId,
        dispute_opened: true,
        ...hashes,
        dispute_tx: opened.signature,
        arbitration_window_hours: Number(opened.arbitrationWindowSeconds / SECONDS_PER_HOUR),
      };
    },
  };
}

async function findEnded(
  { database, unmirrored, watch }: DisputeServices,
  key: { wallet: string; jobId: string },
): Promise<JobRow> {
  const find = async (): Promise<JobRow> => {
    const job = (await selectJob(database, key)) ?? (await unmirrored.find(key));
    if (job) return job;
    throw new ApiError('job_not_found', 'The wallet of this key has no such job.');
  };
  const job = await find();
  if (isEnded(job.status)) return job;
  const hasEnded = ({ status }: { status: JobStatus }) => isEnded(status);
  await watch.waitFor(job.address, hasEnded, { timeoutMs: SETTLEMENT_WAIT_MS });
  const waited = await find();
  if (isEnded(waited.status)) return waited;
  // The window of a job that has settled does not wait for a mirror that is behind.
  const found = await unmirrored.find(key);
  if (found) return found;
  // Closed, or a node is behind the lock: in either case only the mirror will have the job's end.
  throw serviceUnavailable('How the job ended is not known yet.');
}

function refusal(
  jobId: string,
  status: Exclude<DisputeResult['status'], 'opened' | 'limit reached'>,
  windowEndsAt: bigint,
): ApiError {
  switch (status) {
    case 'already open':
      return alreadyOpen(jobId);
    case 'window closed':
      return windowExpired(jobId, windowEndsAt);
    case 'not ours':
      return new ApiError(
        'spender_not_set',
        "Another spender than this service locked the job; dispute it with the wallet's own signature.",
      );
  }
}

/** The ledger refused, so the wallet has no fewer open than the limit, also where the mirror is behind. */
async function limitReached(
  database: Database,
  { wallet, jobId }: { wallet: string; jobId: string },
): Promise<ApiError> {
  const { limit, open, next_ends_at } = await selectDisputeLimit(database, wallet);
  return new ApiError(
    'dispute_limit_reached',
    'The wallet has as many open disputes as this service may open; wait until one has ended, or ' +
      "dispute the job with the wallet's own signature.",
    {
      details: {
        job_id: jobId,
        limit,
        open: Math.max(open, limit),
        next_ends_at: isoTimeOrNull(next_ends_at),
      },
    },
  );
}

function alreadyOpen(jobId: string): ApiError {
  return new ApiError('dispute_already_open', 'The job has been disputed before.', {
    details: { job_id: jobId },
  });
}

function windowExpired(jobId: string, windowEndsAt: bigint): ApiError {
  return new ApiError('dispute_window_expired', 'The time to dispute this job is over.', {
    details: { job_id: jobId, dispute_window_ends_at: isoTime(windowEndsAt) },
  });
}
