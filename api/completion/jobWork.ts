import { spellingOf } from '../../programs/client/publicKeyOf.ts';
import { isEnded } from '../../programs/client/vocabulary.ts';
import type { Background } from '../../runtime/background.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { JobEnd, LockedJob } from '../ledger/escrow.ts';
import type { JobWatch } from '../services/jobWatch.ts';
import type { JobProgress } from '../statements/jobs.ts';

/** What a locked job still needs of us, whether or not its client stays. */
export interface JobWork {
  /** Goes on to its end; a failure leaves the job to the keeper and yields undefined. */
  keepGoing<Result>(job: LockedJob, work: Promise<Result>): Promise<Result | undefined>;
  /**
   * Waits for the mirror to show the job's end; undefined when it does not in time.
   *
   * @param wait.sinceMs when, by `performance.now()`, the job had not ended yet
   */
  mirrored(
    job: LockedJob,
    end: JobEnd,
    wait: { timeoutMs: number; sinceMs?: number },
  ): Promise<JobProgress | undefined>;
}

/** The indexer hears of a transaction from the ledger itself, and most often sooner than from us. */
const HINT_AFTER_MS = 50;

const hasEnded = ({ status }: JobProgress): boolean => isEnded(status);

export function createJobWork(options: {
  background: Background;
  watch: JobWatch;
  logger: Logger;
}): JobWork {
  const { background, watch, logger } = options;
  return {
    keepGoing(job, work) {
      const guarded = work.catch((error: unknown) => {
        logger.error({ msg: 'Left a job to the keeper', job_id: job.id, err: error });
        return undefined;
      });
      background.add(guarded);
      return guarded;
    },
    async mirrored(job, end, wait) {
      const { signature } = end;
      const hinting = signature && setTimeout(() => watch.hint(signature), HINT_AFTER_MS);
      const progress = await watch.waitFor(spellingOf(job.address), hasEnded, wait);
      clearTimeout(hinting || undefined);
      return progress;
    },
  };
}
