import { connectLedger, connectRpc, PublicKey, unixSecondsOf } from '@svc-inference/client/wallet';
import { serviceNow } from '../data/serviceTime.ts';

const CLOCK = 'SysvarC1ock11111111111111111111111111111111';

/**
 * How far the ledger's time is ahead of the service's, in milliseconds.
 *
 * @throws Error when the node does not say, in words for the page
 */
export async function readLeadMs(rpcUrl: string): Promise<number> {
  const ledger = connectLedger(connectRpc({ url: rpcUrl }));
  const clock = await ledger
    .getAccountInfo(new PublicKey(CLOCK), 'confirmed')
    .catch((cause: unknown) => {
      const words = "The ledger's node does not answer, so the time that is left is not known.";
      throw new Error(words, { cause });
    });
  if (!clock) throw new Error('The node shows no clock.');
  return Number(unixSecondsOf(clock)) * 1_000 - serviceNow();
}
