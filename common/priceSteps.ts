import { chargeCredits, lockCredits, type Price } from '../programs/client/pricing.ts';

/** A model's price as the API shows it. */
interface ShownPrice {
  readonly tier: string;
  readonly credits_per_request: number;
  readonly credits_per_1k_tokens: number;
  readonly long_completion_threshold: number;
}

/**
 * Says where a longer text costs less than a shorter one, because the rate begins there. Each
 * threshold with such a step has a sentence, the dearest first.
 */
export function describePriceSteps(prices: readonly ShownPrice[]): string[] {
  const steps = prices.flatMap((shown) => {
    const tokens = shown.long_completion_threshold;
    const [longest, longer] = [chargeFor(shown, tokens), chargeFor(shown, tokens + 1)];
    const charges = `${longer}, not ${longest}, on ${shown.tier}`;
    return longer < longest ? [{ tokens, charges, longest }] : [];
  });
  steps.sort((one, other) => Number(other.longest - one.longest));
  return [...Map.groupBy(steps, ({ tokens }) => tokens)].map(([tokens, alike]) => {
    const charges = new Set(alike.map((step) => step.charges));
    return `A text of ${tokens + 1} tokens costs fewer credits than one of ${tokens}: ${[...charges].join('; ')}.`;
  });
}

/** What a text of so many tokens costs, in credits. */
function chargeFor(shown: ShownPrice, tokens: number): bigint {
  const price: Price = {
    creditsPerRequest: shown.credits_per_request,
    creditsPer1kTokens: shown.credits_per_1k_tokens,
    longCompletionThresholdTokens: shown.long_completion_threshold,
  };
  return chargeCredits(price, tokens, lockCredits(price, tokens));
}
