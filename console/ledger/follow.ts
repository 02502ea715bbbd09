import {
  getBlockHeight,
  getSignatureStatuses,
  type Rpc,
  type SignatureStatus,
  sendTransaction,
} from '@svc-inference/client/wallet';
import type { Ending, PendingTransaction } from './pending.ts';

const PAUSE_MS = 800;
/** The network forgets what it could not place at once. */
const RESEND_EVERY = 3;

/**
 * Waits until it is certain what became of a transaction. A node that does not answer is asked
 * again: no time limit ever stands for certainty.
 *
 * @returns undefined when the signal ends the waiting
 */
export async function followTransaction(
  transaction: PendingTransaction,
  { rpc, signal }: { readonly rpc: Rpc; readonly signal: AbortSignal },
): Promise<Ending | undefined> {
  for (let round = 1; !signal.aborted; round += 1) {
    try {
      const ending = await findEnding(transaction, rpc);
      if (ending) return ending;
      if (round % RESEND_EVERY === 0) {
        await sendTransaction(rpc, transaction.wire, { skipPreflight: true });
      }
    } catch {
      // Nothing was learnt; the next round asks again.
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return undefined;
}

async function findEnding(
  { signature, lastValidBlockHeight }: PendingTransaction,
  rpc: Rpc,
): Promise<Ending | undefined> {
  const landed = endingOf(await statusOf(rpc, signature, false));
  if (landed) return landed;
  const { height } = await getBlockHeight(rpc, { commitment: 'finalized' });
  if (height <= lastValidBlockHeight) return undefined;
  // Asked after the height, since the last block that could hold it is final by now.
  const status = await statusOf(rpc, signature, true);
  return status === null ? { kind: 'expired' } : endingOf(status);
}

async function statusOf(rpc: Rpc, signature: string, searchTransactionHistory: boolean) {
  const { value } = await getSignatureStatuses(rpc, [signature], { searchTransactionHistory });
  return value[0] ?? null;
}

function endingOf(status: SignatureStatus | null): Ending | undefined {
  const isSure = status !== null && status.confirmationStatus !== 'processed';
  if (!isSure) return undefined;
  return status.err === null
    ? { kind: 'confirmed', slot: status.slot }
    : { kind: 'failed', error: status.err };
}
