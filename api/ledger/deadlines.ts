import { PROOF_BEFORE_END_SECONDS, STOP_BEFORE_END_SECONDS } from '../../common/workerProtocol.ts';
import { JOB_TIMEOUT_SECONDS } from '../../programs/client/generated/constants.ts';

/**
 * The deadlines of a job, in the ledger's seconds. T is the lock's time plus the job's timeout. After T
 * anyone may refund the job, so no settlement may still be in flight then.
 *
 * The lock's own Clock is not read back. Its time lies between the ledger's time before the lock was
 * sent and the one after its confirmation.
 */
export interface JobDeadlines {
  /** Stop a running answer: counted from the earliest possible lock. */
  stopAt: bigint;
  /** The last moment to sign for settlement: counted from the earliest possible lock. */
  proofDueAt: bigint;
  /** A refund is certainly allowed: counted from the latest possible lock. */
  refundableAt: bigint;
}

export function jobDeadlines(options: {
  lockedAtEarliest: bigint;
  lockedAtLatest: bigint;
  /** Default: what the program gives every new job. */
  timeoutSeconds?: bigint;
}): JobDeadlines {
  const { lockedAtEarliest, lockedAtLatest } = options;
  const { timeoutSeconds = BigInt(JOB_TIMEOUT_SECONDS) } = options;
  const endEarliest = lockedAtEarliest + timeoutSeconds;
  return {
    stopAt: endEarliest - STOP_BEFORE_END_SECONDS,
    proofDueAt: endEarliest - PROOF_BEFORE_END_SECONDS,
    refundableAt: lockedAtLatest + timeoutSeconds + 1n,
  };
}
