// Generated from the Rust source by programs/tools/idl.ts: do not edit.

/** Where a job is in its life */
export const JOB_STATUSES = [
  /** Credits locked; being routed to a worker */
  'pending',
  /** A worker was given the job */
  'processing',
  /** The worker's proof is recorded */
  'settling',
  /** Charged and paid */
  'settled',
  /** Given up by its controller; the lock is returned */
  'failed',
  /** Timed out, or repaid after a dispute */
  'refunded',
  /** Settled, and the client says the output was another one */
  'disputed',
] as const;

export type JobStatus = (typeof JOB_STATUSES)[number];

/** Why a controller gave a job up */
export const FAILURE_REASONS = [
  /** The job did not fail */
  'none',
  /** No worker answered in full */
  'worker_error',
  /** The answer came without a proof */
  'proof_missing',
  /** The proof is not the acknowledged worker's, or not of this answer */
  'proof_invalid',
  /** The proof is of another text than the one delivered */
  'output_mismatch',
  /** The answer has no text */
  'empty_output',
  /** The client left before its answer began */
  'client_gone',
  /** The lock landed after its request was given up */
  'lock_late',
  /** The messages do not fit the model's context window */
  'context_length_exceeded',
  /** Who answered the request lost the right to finish it */
  'lease_lost',
  /** No process answers the request any more */
  'orphaned',
] as const;

export type FailureReason = (typeof FAILURE_REASONS)[number];

/** How a dispute ended */
export const DISPUTE_OUTCOMES = [
  /** It has not, or there was none */
  'none',
  /** The charge stands */
  'rejected',
  /** Repaid: the gateway's receipt names another text than the proof */
  'upheld_gateway',
  /** Repaid: the worker signed two proofs that differ, and loses stake */
  'upheld_worker',
  /** The arbiter did not decide in time: the charge stands */
  'expired',
] as const;

export type DisputeOutcome = (typeof DISPUTE_OUTCOMES)[number];

/** A class of models by the price of their work */
export const TIERS = [
  'lite',
  'standard',
  'pro',
  'max',
] as const;

export type Tier = (typeof TIERS)[number];

/** Whose claim was paid */
export const CLAIMANT_KINDS = [
  'credit_account',
  'worker',
  'treasury',
] as const;

export type ClaimantKind = (typeof CLAIMANT_KINDS)[number];

/** Whether a worker is given jobs */
export const WORKER_STATUSES = [
  /** Is given jobs */
  'active',
  /** Is given none until the arbiter readmits it */
  'suspended',
  /** Is given none ever again */
  'deregistered',
] as const;

export type WorkerStatus = (typeof WORKER_STATUSES)[number];
