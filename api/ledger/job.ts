import type { PublicKey } from '@solana/web3.js';
import type { Payer } from '../sql/accounts.ts';
import type { ModelRow } from '../sql/workers.ts';

/** What a request may cost at most, at the model's present price. */
export interface Quote {
  model: ModelRow;
  /** The most output tokens the worker may produce. */
  tokenLimit: number;
  lockCredits: bigint;
}

/** Who pays for a lock, with the sequence of the account's last known change. */
export type LockPayer = Pick<Payer, 'wallet' | 'sequence'>;

/** A job that may come to be: its id is known before its lock is sent. */
export interface JobDraft {
  /** `job_…` */
  id: string;
  bytes: Uint8Array;
  address: PublicKey;
  creditAccount: PublicKey;
  /** See `LockedJob`. */
  requestSalt: Uint8Array;
}

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

/** A job whose credits are locked, and what the API keeps of it while it runs. */
export interface LockedJob {
  /** `job_…` */
  id: string;
  address: PublicKey;
  creditAccount: PublicKey;
  /**
   * 32 random bytes. With them a short question can be guessed from its proof: they go to the job's
   * workers, and into no log, table or URL.
   */
  requestSalt: Uint8Array;
  wallet: string;
  model: ModelRow;
  tokenLimit: number;
  lockCredits: bigint;
  escrowTx: string;
  /** A slot that has the lock. */
  escrowSlot: number;
  lockedAtLatest: bigint;
  deadlines: JobDeadlines;
}
