import type { PublicKey } from '@solana/web3.js';
import type { JobStatus } from '../../programs/client/generated/vocabulary.ts';
import { ApiError } from '../contracts/errors.ts';
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

/**
 * Where a job stands after an instruction that was to move it. The signature is null where another
 * sender's transaction moved it: the mirror knows that one.
 */
export interface JobResult {
  status: JobStatus;
  signature: string | null;
  /** The account is gone: `status` is what was asked for, and another one may have come first. */
  isClosed?: true;
  /** Its worker left the ledger's pool, or changed its key, before the answer could be settled. */
  hasWorkerLeft?: true;
}

/** What is known of a job's settlement besides its status: by the mirror, or by its own event. */
export interface SettlementRecord {
  settlement_tx: string | null;
  /** Only the mirror knows. */
  refund_tx?: string | null;
  /** What the wallet's account has left. */
  available_credits: bigint;
}

/** How a job ended, and what else is known of it in time. */
export interface KnownResult {
  result: JobResult;
  record: SettlementRecord | undefined;
}

export type SettleResult =
  | JobResult
  /** Too late to sign for settlement; only the refund is left. */
  | { status: 'overdue' };

/** The lock was sent, and whether it lands is not known in time. */
export class LockUndecidedError extends ApiError<'service_unavailable'> {
  /** `undone`: there is no job, or it was failed. `left`: the keeper will refund it. */
  readonly end: Promise<'undone' | 'left'>;

  constructor(end: LockUndecidedError['end']) {
    super('service_unavailable', 'The ledger did not confirm the lock in time.', {
      retryAfterSeconds: 5,
    });
    this.end = end;
  }
}

/** The price at the lock was not the quoted one. */
export class PriceChangedError extends Error {
  override name = 'PriceChangedError';
}
