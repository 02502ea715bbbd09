import { fieldsOf, numberOf } from '../programs/client/rpc/answers.ts';
import { connectRpc } from '../programs/client/rpc/connectRpc.ts';

/** What to pay so that a transaction which writes these accounts lands soon; micro-lamports. */
type FeeEstimate = (accounts: readonly string[]) => Promise<number>;

/**
 * Helius's estimate of the priority fee.
 *
 * @param apiKey undefined where the service does not use Helius
 * @param url Helius's endpoint, where it is not the public one
 * @returns undefined without a key
 */
export function createHeliusFee(
  apiKey: string | undefined,
  url = 'https://mainnet.helius-rpc.com/',
): FeeEstimate | undefined {
  if (apiKey === undefined) return undefined;
  const rpc = connectRpc({ url: `${url}?api-key=${apiKey}` });
  return (accountKeys) =>
    rpc.ask('getPriorityFeeEstimate', [{ accountKeys, options: { recommended: true } }], (result) =>
      numberOf(fieldsOf(result).priorityFeeEstimate ?? 0),
    );
}
