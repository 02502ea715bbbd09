import { PublicKey } from '@solana/web3.js';
import type { Job, JobLocked } from '../../types.ts';
import { DISPUTE_OUTCOMES, JOB_STATUSES } from '../../vocabulary.ts';
import type { JobEvent } from './record.ts';
import { statusOf } from './status.ts';

const NO_HASH = new Uint8Array(32);
/** The program measures what the timeout bounds in 16 bits. */
const SECONDS_MAX = 0xffff;
/** The only bump that the program accepts for a job's address. */
const BUMP = 255;
const VERSION = 1;

/** The account that a job's events, in their order, leave behind. */
export function expectedAccount([locked, ...later]: readonly [
  JobEvent & { name: 'JobLocked' },
  ...JobEvent[],
]): Job {
  const events = [locked, ...later];
  const job = open(locked.data);
  for (const event of later) Object.assign(job, change(event, job));
  const status = statusOf(events);
  return { ...job, sequence: events.length, status: status ? JOB_STATUSES.indexOf(status) : -1 };
}

function open(lock: JobLocked): Job {
  const { tier, jobId, creditAccount, controller, model, rentPayer, lockedCredits } = lock;
  const { creditsPerRequest, creditsPer1kTokens, longCompletionThresholdTokens } = lock;
  const { tokenLimit, treasuryShareBasisPoints, slashTokens } = lock;
  const { jobTimeoutSeconds, disputeWindowSeconds, arbitrationWindowSeconds } = lock;
  return {
    ...{ version: VERSION, bump: BUMP, sequence: 1, status: 0 },
    ...{ tier, jobId, creditAccount, controller, model, rentPayer, lockedCredits },
    ...{ creditsPerRequest, creditsPer1kTokens, longCompletionThresholdTokens },
    ...{ tokenLimit, treasuryShareBasisPoints, slashTokens },
    ...{ jobTimeoutSeconds, disputeWindowSeconds, arbitrationWindowSeconds },
    ...{ attempt: 0, outcome: 0, failureReason: 0, worker: PublicKey.default },
    ...{ outputHash: NO_HASH, clientHash: NO_HASH, lockedAt: lock.unixTime, chargedCredits: 0n },
    ...{ promptTokens: 0, completionTokens: 0, countedTokens: 0 },
    ...{ acknowledgedAfterSeconds: 0, provenAfterSeconds: 0, endedAfterSeconds: 0 },
    ...{ disputedAfterSeconds: 0, resolvedAfterSeconds: 0 },
  };
}

function change({ name, data }: JobEvent, { lockedAt }: Job): Partial<Job> {
  // The ledger's clock may be set back a little: then no time has passed.
  const seconds = Number(data.unixTime > lockedAt ? data.unixTime - lockedAt : 0n);
  const secondsInTime = Math.min(seconds, SECONDS_MAX);
  switch (name) {
    case 'JobAcknowledged': {
      const { worker, attempt } = data;
      return { worker, attempt, acknowledgedAfterSeconds: secondsInTime };
    }
    case 'JobProven': {
      const { outputHash, promptTokens, completionTokens } = data;
      return { outputHash, promptTokens, completionTokens, provenAfterSeconds: secondsInTime };
    }
    case 'JobSettled': {
      const { chargedCredits, countedTokens } = data;
      return { chargedCredits, countedTokens, endedAfterSeconds: seconds };
    }
    case 'JobFailed':
      return { failureReason: data.reason, endedAfterSeconds: seconds };
    case 'JobRefunded':
      return { endedAfterSeconds: seconds };
    case 'JobDisputed':
      return { clientHash: data.clientHash, disputedAfterSeconds: seconds };
    case 'DisputeResolved': {
      const isUpheld = DISPUTE_OUTCOMES[data.verdict] !== 'rejected';
      const repaid = isUpheld ? { chargedCredits: 0n } : {};
      return { outcome: data.verdict, resolvedAfterSeconds: seconds, ...repaid };
    }
    case 'DisputeExpired':
      return { outcome: DISPUTE_OUTCOMES.indexOf('expired'), resolvedAfterSeconds: seconds };
    case 'JobLocked':
    case 'JobClosed':
      return {};
  }
}
