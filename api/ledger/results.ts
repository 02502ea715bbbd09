import type { JobStatus } from '../../programs/client/generated/vocabulary.ts';
import { ApiError } from '../contracts/errors.ts';

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
