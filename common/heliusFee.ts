import { createHelius } from 'helius-sdk';

/** What to pay so that a transaction which writes these accounts lands soon; micro-lamports. */
type FeeEstimate = (accounts: readonly string[]) => Promise<number>;

/**
 * Helius's estimate of the priority fee.
 *
 * @param apiKey undefined where the service does not use Helius
 * @param url Helius's endpoint, where it is not the public one
 * @returns undefined without a key
 */
export function createHeliusFee(apiKey: string | undefined, url?: string): FeeEstimate | undefined {
  if (apiKey === undefined) return undefined;
  const helius = createHelius({ apiKey, ...(url && { baseUrl: url }) });
  return async (accounts) => {
    const { priorityFeeEstimate } = await helius.getPriorityFeeEstimate({
      accountKeys: [...accounts],
      options: { recommended: true },
    });
    return priorityFeeEstimate ?? 0;
  };
}
