import type { PublicKey } from '@solana/web3.js';
import type { FailureReason, JobStatus } from '../../programs/client/vocabulary.ts';
import type { JobDeadlines } from '../completion/deadlines.ts';
import type { ProvenAnswer } from '../completion/provenAnswer.ts';
import type { Quote } from '../completion/quote.ts';
import { ApiError } from '../errors.ts';
import type { Payer } from '../statements/keyAndAccount.ts';
import type { ModelRow } from '../statements/models.ts';

/** Who pays for a lock, with the sequence of the account's last known change. */
export type LockPayer = Pick<Payer, 'wallet' | 'sequence'>;

/** A job that may come to be: its id is known before its lock is sent. */
export interface JobDraft {
  /** `job_…` */
  id: string;
  bytes: Uint8Array;
  address: PublicKey;
  creditAccount: PublicKey;
}

/** A job whose credits are locked, and what the API keeps of it while it runs. */
export interface LockedJob {
  /** `job_…` */
  id: string;
  address: PublicKey;
  creditAccount: PublicKey;
  wallet: string;
  model: ModelRow;
  tokenLimit: number;
  lockCredits: bigint;
  escrowTx: string;
  lockedAtLatest: bigint;
  deadlines: JobDeadlines;
}

/**
 * Where a job stands after an instruction that was to move it. The signature is null when somebody
 * else's transaction moved it; the mirror knows that one.
 */
export interface JobEnd {
  status: JobStatus;
  signature: string | null;
}

export type SettleEnd =
  | JobEnd
  /** Too late to sign for settlement; only the refund is left. */
  | { status: 'overdue' };

/** The lock was sent, and whether it lands is not known in time. */
export class LockUndecidedError extends ApiError<'service_unavailable'> {
  /** `undone` when the job is known not to exist, or was taken back; `left` when it is the keeper's. */
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

/**
 * What the API does on the ledger. Every uncertain outcome is decided by reading the Job, never by
 * a timer.
 */
export interface Escrow {
  /** @throws LedgerUnavailableError while the ledger's time, by which a job is judged, is unknown */
  draft(wallet: string): JobDraft;
  /**
   * Locks the quoted credits for a new job. A draft whose lock was refused can be used again.
   *
   * @param payer no refusal counts that comes from a node which has not seen his account's change
   * @throws ApiError when the ledger refuses: then there is no job and never will be
   * @throws LockUndecidedError when it does not confirm in time
   * @throws PriceChangedError
   * @throws LedgerUnavailableError with a signature when the lock's fate is not known
   */
  lock(payer: LockPayer, quoted: Quote, draft: JobDraft): Promise<LockedJob>;
  /** Announces which worker is asked; sent within a second unless the settlement carries it. */
  acknowledge(job: LockedJob, workerAddress: string, attempt: number): void;
  /**
   * Proves and settles in one transaction, again until it is decided or too late.
   *
   * @param kept nothing is sent before it resolves
   */
  settle(
    job: LockedJob,
    answer: ProvenAnswer,
    countedTokens: number,
    kept?: Promise<void>,
  ): Promise<SettleEnd>;
  fail(job: LockedJob, reason: Exclude<FailureReason, 'none'>): Promise<JobEnd>;
  /** To be called once the ledger's time allows it. */
  refund(job: LockedJob): Promise<JobEnd>;
}
