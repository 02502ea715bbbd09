import type { JobStatus } from '../../../../programs/client/index.ts';
import { readJob } from '../jobs.ts';
import type { Act } from './actor.ts';
import {
  ARBITRATION_WINDOW_SECONDS,
  type Books,
  CLOSE_AFTER_SECONDS,
  DISPUTE_WINDOW_SECONDS,
  holdsLock,
  isInTime,
  type JobBook,
} from './books.ts';
import { disputeJob, expireJob, resolveJob } from './disputeActs.ts';
import {
  acknowledgeJob,
  closeJob,
  completeJob,
  failJob,
  proveJob,
  refundJob,
  settleJob,
} from './jobActs.ts';
import { pick, rarely, type Step, type Walk } from './walk.ts';

/** A step about one of the jobs; afterwards the ledger gives it the same status. */
const onJob =
  (act: Act, isAsked: (books: Books, job: JobBook) => boolean = () => true): Step =>
  async (walk) => {
    const { books } = walk;
    const job = pick(
      walk,
      books.jobs.filter((item) => isAsked(books, item)),
    );
    if (job === undefined) return;
    await act(walk, job);
    if (!books.jobs.includes(job)) return;
    const found = await readJob(walk.world, job.address);
    if (found.status !== job.status) throw new Error(`a job is not ${job.status}`);
  };

/** Whether anything but waiting would bring the job to its end. */
const isMovable = ({ now }: Books, job: JobBook): boolean =>
  holdsLock(job) || job.status === 'disputed' || now >= job.lockedAt + CLOSE_AFTER_SECONDS;

/** What would bring the job to its end. */
function nextAct(walk: Walk, job: JobBook): Act {
  const { books } = walk;
  if (holdsLock(job) && !isInTime(books, job)) return refundJob;
  const isUndecided = books.now <= job.disputedAt + ARBITRATION_WINDOW_SECONDS;
  const isDisputable = job.outcome === 'none' && books.now <= job.endedAt + DISPUTE_WINDOW_SECONDS;
  const next: Record<JobStatus, Act> = {
    pending: rarely(walk, 3) ? completeJob : acknowledgeJob,
    processing: rarely(walk, 3) ? completeJob : proveJob,
    settling: settleJob,
    settled: isDisputable ? disputeJob : closeJob,
    failed: closeJob,
    refunded: closeJob,
    disputed: isUndecided && rarely(walk, 2) ? resolveJob : expireJob,
  };
  return next[job.status];
}

/** Half of the steps bring a job forward; the others are any, most of them refused. */
export const jobSteps: readonly Step[] = [
  acknowledgeJob,
  proveJob,
  settleJob,
  completeJob,
  failJob,
  refundJob,
  disputeJob,
  resolveJob,
  expireJob,
  closeJob,
].flatMap((act) => [onJob(act), onJob((walk, job) => nextAct(walk, job)(walk, job), isMovable)]);
