import { hash } from 'node:crypto';
import type { PublicKey } from '@solana/web3.js';
import { creditsNumber } from '../../common/format.ts';
import { PROOF_BEFORE_END_SECONDS, STOP_BEFORE_END_SECONDS } from '../../common/workerProtocol.ts';
import { JOB_TIMEOUT_SECONDS } from '../../programs/client/generated/constants.ts';
import type { JobStatus } from '../../programs/client/generated/vocabulary.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import { affordableTokens, type Price } from '../../programs/client/pricing.ts';
import { proofMessage, verifySignature } from '../../programs/client/proof.ts';
import { ApiError } from '../contracts/errors.ts';
import type { FinishReason } from '../response/delivery.ts';
import type { Payer } from '../sql/accounts.ts';
import type { ModelRow } from '../sql/workers.ts';
import type { Reservation } from '../workers/capacity.ts';
import type { WorkerProof } from '../workers/events.ts';

/**
 * The deadlines of a job, all in the ledger's seconds. T is the lock's time plus the job's timeout.
 * After T anybody may refund the job, so no settlement may still be in flight then.
 */

/**
 * When a job ends, to the second. The lock's own Clock is not read back. Its time lies between the
 * ledger's time before the lock was sent and the one after its confirmation.
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

/** What a request may cost at most, at the model's present price. */
export interface Quote {
  model: ModelRow;
  /** The most output tokens the worker may produce. */
  tokenLimit: number;
  lockCredits: bigint;
}

/** What the model charges now. */
export function priceOf(model: ModelRow): Price {
  return {
    creditsPerRequest: model.credits_per_request,
    creditsPer1kTokens: model.credits_per_1k_tokens,
    longCompletionThresholdTokens: model.long_completion_threshold_tokens,
  };
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

export type SettleResult =
  | JobResult
  /** Too late to sign for settlement; only the refund is left. */
  | { status: 'overdue' };

/** The refusal of a request whose lock costs more than the wallet has. */
export function insufficientCredits(quoted: Quote, availableCredits: bigint): ApiError {
  const { model } = quoted;
  const affordable = Math.min(
    affordableTokens(priceOf(model), availableCredits),
    model.context_window_tokens,
  );
  const remedy =
    affordable > 0
      ? `Ask for \`max_tokens\` of at most ${affordable}, or buy credits`
      : `No request of ${model.id} is affordable. Buy credits`;
  return new ApiError(
    'insufficient_credits',
    `This request has to lock ${quoted.lockCredits} credits and ${availableCredits} are available. ` +
      `${remedy} in the web app, or with \`svc credits buy\` (/packages/ has svc).`,
    {
      details: {
        credits_remaining: creditsNumber(availableCredits),
        credits_required: creditsNumber(quoted.lockCredits),
        tier: model.tier,
        affordable_max_tokens: affordable,
      },
    },
  );
}

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

/** A worker's whole answer. Its text has the proof's hash; the signature is not checked yet. */
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
