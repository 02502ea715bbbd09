import { fieldsOf, numberOf } from '../programs/client/rpc/methods.ts';
import { connectRpc } from '../programs/client/rpc/rpc.ts';

/**
 * Helius's estimate of the fee that lands a transaction soon which writes these accounts; micro-lamports.
 *
 * @param apiKey undefined where the service does not use Helius
 * @param url Helius's endpoint, where it is not the public one
 * @returns undefined without a key
 */
export function createHeliusFee(
  apiKey: string | undefined,
  url = 'https://mainnet.helius-rpc.com/',
) {
  if (apiKey === undefined) return undefined;
  const rpc = connectRpc({ url: `${url}?api-key=${apiKey}` });
  return (accountKeys: readonly string[]) =>
    rpc.ask('getPriorityFeeEstimate', [{ accountKeys, options: { recommended: true } }], (result) =>
      numberOf(fieldsOf(result).priorityFeeEstimate ?? 0),
    );
}
