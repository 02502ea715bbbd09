import type { PublicKey } from '@solana/web3.js';
import { creditsNumber, isoTime } from '../../common/format.ts';
import { NO_LIMIT } from '../../programs/client/generated/constants.ts';
import { affordableTokens } from '../../programs/client/pricing.ts';
import { ApiError } from '../contracts/errors.ts';
import type { Funds, Payer } from '../sql/accounts.ts';
import { type ModelRow, priceOf } from '../sql/workers.ts';

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
  lockedAtLatest: bigint;
  deadlines: JobDeadlines;
}

const DAY_SECONDS = 86_400n;
const CHANGE_LIMITS =
  'The wallet changes its limits on the Credits page of the web app, or with `svc credits limits` (/packages/ has svc).';

/**
 * Why an account does not bear a lock; undefined where it does. A balance that is too small comes
 * first: no limit would help there.
 *
 * @param nowSeconds the ledger's time
 */
export function lockObstacle(
  quoted: Quote,
  funds: Funds,
  nowSeconds: bigint,
): ApiError | undefined {
  const { lockCredits } = quoted;
  const available = funds.available_credits ?? 0n;
  if (available < lockCredits) return insufficientCredits(quoted, available);
  const limit = funds.limit_per_job_credits ?? NO_LIMIT;
  if (limit < lockCredits) return aboveJobLimit(lockCredits, limit);
  const day = dayOf(funds, nowSeconds);
  return day.left < lockCredits ? aboveDayLimit(lockCredits, day) : undefined;
}

interface Day {
  limit: bigint;
  left: bigint;
  /** The midnight that ends it, in the ledger's seconds. */
  endsAt: bigint;
}

/** The day's limit as the program counts it: only a later day has a new sum. */
function dayOf(funds: Funds, nowSeconds: bigint): Day {
  const limit = funds.limit_per_day_credits ?? NO_LIMIT;
  const spentDay = funds.spent_day ?? 0n;
  const today = nowSeconds / DAY_SECONDS;
  const isNew = today > spentDay;
  const left = limit - (isNew ? 0n : (funds.spent_today_credits ?? 0n));
  const endsAt = ((isNew ? today : spentDay) + 1n) * DAY_SECONDS;
  // A limit that was lowered may be below what it counts already.
  return { limit, left: left < 0n ? 0n : left, endsAt };
}

function aboveDayLimit(lockCredits: bigint, { limit, left, endsAt }: Day): ApiError {
  const resetsAt = isoTime(endsAt);
  return new ApiError(
    'spending_limit_exceeded',
    `This request has to lock ${lockCredits} credits. Of the wallet's limit of ${limit} credits a ` +
      `day, ${left} are left until ${resetsAt}. ${CHANGE_LIMITS}`,
    {
      details: {
        limit: creditsNumber(limit),
        left: creditsNumber(left),
        resets_at: resetsAt,
        credits_required: creditsNumber(lockCredits),
      },
    },
  );
}

function aboveJobLimit(lockCredits: bigint, limit: bigint): ApiError {
  return new ApiError(
    'spending_limit_exceeded',
    `This request has to lock ${lockCredits} credits, and the wallet's limit for one job is ` +
      `${limit}. ${CHANGE_LIMITS}`,
    { details: { limit: creditsNumber(limit), credits_required: creditsNumber(lockCredits) } },
  );
}

/** The refusal of a request whose lock costs more than the wallet has. */
function insufficientCredits(quoted: Quote, availableCredits: bigint): ApiError {
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
