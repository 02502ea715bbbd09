import { BASIS_POINTS } from './generated/constants.ts';

/** What a Model charges; a Job keeps a copy, so that a later change of price does not touch it. */
export interface Price {
  readonly creditsPerRequest: number;
  readonly creditsPer1kTokens: number;
  /** Up to this many output tokens cost `creditsPerRequest`; beyond it all tokens cost the rate. */
  readonly longCompletionThresholdTokens: number;
}

const RATE_TOKENS = 1_000n;
/** Token limits are u32 on the ledger. */
const TOKEN_LIMIT_MAX = 0xffff_ffffn;

/** The two rates of a model. A text costs one of them. */
export const RATES = ['per_request', 'per_1k_tokens'] as const;
export type Rate = (typeof RATES)[number];

/** The rate by which `tokens` output tokens are charged. */
export function rateOf(
  { longCompletionThresholdTokens }: Pick<Price, 'longCompletionThresholdTokens'>,
  tokens: number,
): Rate {
  return tokens <= longCompletionThresholdTokens ? 'per_request' : 'per_1k_tokens';
}

/** Credits that `tokens` output tokens cost, before the lock bounds them. */
function priceOf(price: Price, tokens: number): bigint {
  if (rateOf(price, tokens) === 'per_request') return BigInt(price.creditsPerRequest);
  const product = BigInt(tokens) * BigInt(price.creditsPer1kTokens);
  return (product + RATE_TOKENS - 1n) / RATE_TOKENS;
}

/** Credits that a job with this token limit locks; the program computes the same. */
export function lockCredits(price: Price, tokenLimit: number): bigint {
  const perRequest = BigInt(price.creditsPerRequest);
  const atLimit = priceOf(price, tokenLimit);
  return atLimit > perRequest ? atLimit : perRequest;
}

/** Credits that a settlement charges for `tokens` output tokens, never more than was locked. */
export function chargeCredits(price: Price, tokens: number, lockedCredits: bigint): bigint {
  const charge = priceOf(price, tokens);
  return charge < lockedCredits ? charge : lockedCredits;
}

/** The token limit of a request that names none: the most tokens that lock `creditsPerRequest`. */
export function freeTokenLimit(price: Price): number {
  return affordableTokens(price, BigInt(price.creditsPerRequest));
}

/** The greatest token limit whose lock `credits` cover; 0 when they do not cover any request. */
export function affordableTokens(price: Price, credits: bigint): number {
  if (credits < BigInt(price.creditsPerRequest)) return 0;
  const rate = BigInt(price.creditsPer1kTokens);
  const atRate = rate === 0n ? TOKEN_LIMIT_MAX : (credits * RATE_TOKENS) / rate;
  const boundedAtRate = atRate < TOKEN_LIMIT_MAX ? Number(atRate) : Number(TOKEN_LIMIT_MAX);
  return Math.max(boundedAtRate, price.longCompletionThresholdTokens);
}

/**
 * The most credits that an upheld dispute over a charge repays. For a job of a vouched gateway that is
 * the whole charge, for any other the treasury's share.
 */
export function repayableCredits(
  chargedCredits: bigint,
  job: { readonly vouched: boolean; readonly treasuryShareBasisPoints: number },
): bigint {
  return job.vouched ? chargedCredits : treasuryCredits(chargedCredits, job);
}

/**
 * Credits that the treasury received of a charge, rounded down. It repays no more where the stake
 * of a convicted worker did not bear the whole slash.
 */
export function treasuryCredits(
  chargedCredits: bigint,
  { treasuryShareBasisPoints }: { readonly treasuryShareBasisPoints: number },
): bigint {
  return (chargedCredits * BigInt(treasuryShareBasisPoints)) / BASIS_POINTS;
}
