import { creditsNumber, isoTime } from '../../common/format.ts';
import { ApiError } from './errors.ts';

// What a wallet can mend by itself: it has too little, or does not let this service spend enough.

/** @param lack.affordableMaxTokens 0 where no request of the model is affordable */
export function balanceTooSmall(lack: {
  model: { id: string; tier: string };
  lockCredits: bigint;
  availableCredits: bigint;
  affordableMaxTokens: number;
}): ApiError {
  const { model, lockCredits, availableCredits, affordableMaxTokens: affordable } = lack;
  const remedy =
    affordable > 0
      ? `Ask for \`max_tokens\` of at most ${affordable}, or buy credits`
      : `No request of ${model.id} is affordable. Buy credits`;
  return new ApiError(
    'insufficient_credits',
    `This request has to lock ${lockCredits} credits and ${availableCredits} are available. ` +
      `${remedy} in the web app, or with \`svc credits buy\` (/packages/ has svc).`,
    {
      details: {
        credits_remaining: creditsNumber(availableCredits),
        credits_required: creditsNumber(lockCredits),
        tier: model.tier,
        affordable_max_tokens: affordable,
      },
    },
  );
}

const CHANGE_LIMITS =
  'The wallet changes its limits on the Credits page of the web app, or with `svc credits limits` (/packages/ has svc).';

const fitting = (maxTokens: number): string =>
  maxTokens > 0
    ? `Ask for \`max_tokens\` of at most ${maxTokens}.`
    : 'No request of this model fits.';

/** @param fittingMaxTokens 0 where no request of the model fits */
export function aboveJobLimit(
  lockCredits: bigint,
  limit: bigint,
  fittingMaxTokens: number,
): ApiError {
  return new ApiError(
    'spending_limit_exceeded',
    `This request has to lock ${lockCredits} credits, and the wallet's limit for one job is ` +
      `${limit}. ${fitting(fittingMaxTokens)} ${CHANGE_LIMITS}`,
    {
      details: {
        limit: creditsNumber(limit),
        credits_required: creditsNumber(lockCredits),
        affordable_max_tokens: fittingMaxTokens,
      },
    },
  );
}

/** Above the ceiling that the request itself names. @param fittingMaxTokens as above */
export function aboveOwnLimit(
  lockCredits: bigint,
  maxCredits: number,
  fittingMaxTokens: number,
): ApiError {
  return new ApiError(
    'price_above_limit',
    `The request would lock ${lockCredits} credits, and its ceiling is ${maxCredits}. ` +
      fitting(fittingMaxTokens),
    {
      param: 'max_credits',
      details: {
        credits_required: creditsNumber(lockCredits),
        max_credits: maxCredits,
        affordable_max_tokens: fittingMaxTokens,
      },
    },
  );
}

/** A limit of a day, and what is left of it. */
export interface Day {
  limit: bigint;
  left: bigint;
  /** The midnight that ends it, in the ledger's seconds. */
  endsAt: bigint;
}

/** @param fittingMaxTokens as above */
export function aboveDayLimit(
  lockCredits: bigint,
  { limit, left, endsAt }: Day,
  fittingMaxTokens: number,
): ApiError {
  const resetsAt = isoTime(endsAt);
  return new ApiError(
    'spending_limit_exceeded',
    `This request has to lock ${lockCredits} credits. Of the wallet's limit of ${limit} credits a ` +
      `day, ${left} are left until ${resetsAt}. ${fitting(fittingMaxTokens)} ${CHANGE_LIMITS}`,
    {
      details: {
        limit: creditsNumber(limit),
        left: creditsNumber(left),
        resets_at: resetsAt,
        credits_required: creditsNumber(lockCredits),
        affordable_max_tokens: fittingMaxTokens,
      },
    },
  );
}

/** Of a wallet whose spender was this service when it was admitted. */
export function spenderRemoved(): ApiError {
  return new ApiError(
    'spender_not_set',
    'The wallet does not let this service spend its credits. It changes that on the Credits ' +
      'page of the web app, or with `svc credits limits` (/packages/ has svc).',
  );
}
