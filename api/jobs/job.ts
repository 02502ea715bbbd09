import { hash } from 'node:crypto';
import type { PublicKey } from '@solana/web3.js';
import type { FailureReason, JobStatus } from '../../programs/client/generated/vocabulary.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import { proofMessage, verifySignature } from '../../programs/client/proof.ts';
import { ApiError } from '../contracts/errors.ts';
import type { FinishReason } from '../response/delivery.ts';
import type { Payer } from '../sql/accounts.ts';
import type { JobRow } from '../sql/jobs.ts';
import type { ModelRow } from '../sql/workers.ts';
import type { Reservation } from '../workers/capacity.ts';
import type { WorkerProof } from '../workers/events.ts';

/**
 * The deadlines of a job, all in the ledger's seconds. T is the lock's time plus the job's timeout;
 * after T anybody may refund it, so nothing may still be under way to settle it.
 */

/** An answer still running this long before T is stopped, so that its proof is in time. */
const STOP_BEFORE_END_SECONDS = 15n;

/** From here on nothing is signed for settlement: it could land after a refund became possible. */
const PROOF_BEFORE_END_SECONDS = 5n;

/** How many workers are tried for one job. */
export const ATTEMPTS_MAX = 3;

/**
 * When a job ends, known to the second: the transaction's own Clock is not read back, so its lock
 * time lies between the ledger time seen before sending and the one seen after confirmation.
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
  timeoutSeconds: bigint;
}): JobDeadlines {
  const { lockedAtEarliest, lockedAtLatest, timeoutSeconds } = options;
  const endEarliest = lockedAtEarliest + timeoutSeconds;
  return {
    stopAt: endEarliest - STOP_BEFORE_END_SECONDS,
    proofDueAt: endEarliest - PROOF_BEFORE_END_SECONDS,
    refundableAt: lockedAtLatest + timeoutSeconds + 1n,
  };
}

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
  /**
   * Who proved an answer on the ledger while the job is not settled; undefined where nobody did, or
   * where the ledger does not tell.
   */
  undeliveredProof(job: LockedJob): Promise<{ workerAddress: string; attempt: number } | undefined>;
  /** Announces which worker is asked; sent within a moment unless the job's end carries it. */
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
    kept: Promise<void>,
  ): Promise<SettleEnd>;
  /** @param of.hadWorker whether the worker that was asked last took the job, and is recorded */
  fail(
    job: LockedJob,
    reason: Exclude<FailureReason, 'none'>,
    of?: { hadWorker?: boolean },
  ): Promise<JobEnd>;
  /** To be called once the ledger's time allows it. */
  refund(job: LockedJob): Promise<JobEnd>;
  /**
   * What the settlement's own event says, for when the mirror does not; undefined where there is
   * none, or where the ledger does not tell.
   *
   * @param signature the settlement's, where it is known
   */
  readSettlement(
    job: { wallet: string; jobId: string },
    signature: string | null,
  ): Promise<SettlementRecord | undefined>;
}

/**
 * Where a wallet's job stands. `closed`: the ledger had it and has it no more, and the mirror does
 * not tell yet how it ended.
 */
export type LookedUpStatus = JobStatus | 'closed';

/** Finds jobs on the ledger that the mirror has not seen yet. */
export interface UnmirroredJobs {
  /** @throws LedgerUnavailableError */
  find(key: { wallet: string; jobId: string }): Promise<JobRow | undefined>;
}

/** How the attempt to open a dispute ended. */
export type DisputeEnd =
  | { status: 'opened'; signature: string; arbitrationWindowSeconds: bigint }
  | { status: 'already open' | 'window closed' | 'limit reached' }
  /** Another controller locked the job, so that only it and the wallet may dispute. */
  | { status: 'not ours' };

/** Opens disputes on the ledger, as the job's controller. */
export interface DisputeOnLedger {
  /**
   * @param job.settlement_slot where it is known: a node that has not come so far has no say
   * @throws ApiError service_unavailable when the ledger does not decide
   */
  open(
    job: { address: string; wallet: string; settlement_slot: bigint | null },
    clientHash: string,
  ): Promise<DisputeEnd>;
  /** The ledger's time in seconds, read now. @throws LedgerUnavailableError */
  readSeconds(): Promise<bigint>;
}

/** A worker's whole answer. Its text has the hash that its proof states; nobody has checked more. */
export interface WholeAnswer {
  reservation: Reservation;
  attempt: number;
  /** What the worker says of its engine. */
  engine: string | null;
  text: string;
  /** What the model thought before; neither proven nor charged. */
  reasoning: string;
  finishReason: FinishReason;
  /** Whether it was cut off because the job's time was nearly over. */
  isTruncated: boolean;
  proof: WorkerProof;
}

declare const signatureChecked: unique symbol;

/** An answer whose proof its worker signed. Only `checkProof` makes one, and only one can settle. */
export type ProvenAnswer = WholeAnswer & { readonly [signatureChecked]: true };

/** Whether the proof is one of this text. */
export function isProofOf(text: string, proof: WorkerProof): boolean {
  return hash('sha256', text, 'buffer').equals(proof.outputHash);
}

/** @returns the answer as a proven one; undefined when its worker did not sign its proof */
export function checkProof(
  answer: WholeAnswer,
  { programId, job }: { programId: PublicKey; job: PublicKey },
): ProvenAnswer | undefined {
  const { reservation, attempt, proof } = answer;
  const { signature, ...proven } = proof;
  const isSigned = verifySignature({
    publicKey: publicKeyOf(reservation.worker.proof_key),
    signature,
    message: proofMessage({
      programId,
      job,
      worker: publicKeyOf(reservation.worker.address),
      attempt,
      ...proven,
    }),
  });
  return isSigned ? (answer as ProvenAnswer) : undefined;
}
