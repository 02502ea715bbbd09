import type { PublicKey } from '@solana/web3.js';
import { RETRY_AFTER_SECONDS_MAX } from '../../common/workerProtocol.ts';
import {
  ARBITRATION_WINDOW_SECONDS,
  BASIS_POINTS,
  DISPUTE_WINDOW_SECONDS,
  JOB_ID_AGE_MS_MAX,
  JOB_ID_LEAD_MS_MAX,
  JOB_TIMEOUT_SECONDS,
} from '../../programs/client/generated/constants.ts';
import type { Config, Job } from '../../programs/client/generated/types.ts';
import { jobIdTimeMs } from '../../programs/client/jobId.ts';
import { lockCredits } from '../../programs/client/pricing.ts';
import { WorkerError, type WorkerErrorCode } from '../protocol/errors.ts';

/** What this worker's owner demands of a job. */
export interface Terms {
  /** The controllers whose jobs it takes: Gateways or keys. */
  gateways: readonly PublicKey[] | 'any';
  /** The least part of a charge that it works for, in hundredths of a percent. */
  shareMinBasisPoints: number;
}

/**
 * A controller alone decides whether a job is settled, so a worker chooses its controllers.
 *
 * @throws WorkerError `gateway_not_served`
 */
export function requireServed(controller: PublicKey, { gateways }: Terms): void {
  if (gateways === 'any' || gateways.some((gateway) => gateway.equals(controller))) return;
  throw refusal('gateway_not_served', "This worker does not serve the job's controller");
}

/** What a worker gets of each charge, when the treasury gets this. Hundredths of a percent. */
export function workerShare({
  treasuryShareBasisPoints,
}: Pick<Config, 'treasuryShareBasisPoints'>): number {
  return Number(BASIS_POINTS) - treasuryShareBasisPoints;
}

/** Terms seldom change, so the next try is as late as clients accept. */
function refusal(code: WorkerErrorCode, message: string): WorkerError {
  return new WorkerError(code, message, { retryAfterSeconds: RETRY_AFTER_SECONDS_MAX });
}

const MS_PER_SECOND = 1_000;

/**
 * The program writes none of these. They would mean another program at its address, another version
 * of it, or a node that lies. Such a job may cost the stake, or never be paid.
 *
 * Prices are not compared with the model's: a job keeps those of its lock.
 */
function suspicionOf(job: Job, config: Config, unixSeconds: bigint): string | undefined {
  const { lockedAt, lockedCredits, tokenLimit } = job;
  const idAgeMs = Number(lockedAt) * MS_PER_SECOND - jobIdTimeMs(job.jobId);
  const faults: [boolean, string][] = [
    [job.jobTimeoutSeconds !== JOB_TIMEOUT_SECONDS, 'its timeout'],
    [job.disputeWindowSeconds !== DISPUTE_WINDOW_SECONDS, 'its dispute window'],
    [job.arbitrationWindowSeconds !== ARBITRATION_WINDOW_SECONDS, 'its arbitration window'],
    [lockedAt > unixSeconds, 'the time of its lock'],
    [idAgeMs > JOB_ID_AGE_MS_MAX || idAgeMs < -JOB_ID_LEAD_MS_MAX, "its id's time"],
    [job.slashTokens > config.slashTokens, 'what a verdict would slash'],
    [job.creditsPerRequest === 0 || job.creditsPer1kTokens === 0, 'its prices'],
    [lockedCredits !== lockCredits(job, tokenLimit), 'its locked credits'],
    [lockedCredits > config.jobCreditsMax, 'its locked credits'],
  ];
  return faults.find(([isFault]) => isFault)?.[1];
}

/**
 * Checks a job's terms before any work.
 *
 * @param unixSeconds the ledger's time in the same reading
 * @throws WorkerError `share_too_low`, or `suspicious_lock` with what is wrong
 */
export function requireTerms(
  { job, config, unixSeconds }: { job: Job; config: Config; unixSeconds: bigint },
  { shareMinBasisPoints }: Terms,
): void {
  if (workerShare(job) < shareMinBasisPoints) {
    throw refusal('share_too_low', "The worker's share of this job is below its minimum");
  }
  const suspicion = suspicionOf(job, config, unixSeconds);
  if (suspicion === undefined) return;
  throw refusal('suspicious_lock', `The program would not lock this: ${suspicion}`);
}
