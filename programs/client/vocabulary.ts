/** The words for what accounts and events store as one byte: the index is the byte. */
export const TIERS = ['lite', 'standard', 'pro', 'max'] as const;

export const JOB_STATUSES = [
  'pending',
  'processing',
  'settling',
  'settled',
  'failed',
  'refunded',
  'disputed',
] as const;

/** Index 0 means that the job did not fail. */
export const FAILURE_REASONS = [
  'none',
  'worker_error',
  'proof_missing',
  'proof_invalid',
  'output_mismatch',
  'empty_output',
  'client_gone',
  'lock_late',
] as const;

/** How a dispute ended; index 0 means that it has not, or that there was none. */
export const DISPUTE_OUTCOMES = [
  'none',
  'rejected',
  'upheld_gateway',
  'upheld_worker',
  'expired',
] as const;

export const WORKER_STATUSES = ['active', 'suspended', 'deregistered'] as const;

export const CLAIMANT_KINDS = ['credit_account', 'worker', 'treasury'] as const;

export type Tier = (typeof TIERS)[number];
export type JobStatus = (typeof JOB_STATUSES)[number];
export type FailureReason = (typeof FAILURE_REASONS)[number];
export type DisputeOutcome = (typeof DISPUTE_OUTCOMES)[number];
export type WorkerStatus = (typeof WORKER_STATUSES)[number];
export type ClaimantKind = (typeof CLAIMANT_KINDS)[number];

/** Whether a job in this status has ended: its credits are no longer locked. */
export function isEnded(status: JobStatus): boolean {
  return status !== 'pending' && status !== 'processing' && status !== 'settling';
}

/**
 * The word for a stored byte.
 *
 * @throws RangeError for a byte without a word: the program is newer than this client
 */
export function word<Word extends string>(words: readonly Word[], byte: number): Word {
  const found = words[byte];
  if (found === undefined) throw new RangeError(`No word for byte ${byte} among ${words.join()}`);
  return found;
}
