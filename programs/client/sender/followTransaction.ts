import type { Rpc } from '../rpc/rpc.ts';
import { createConfirmer, type SenderCommitment, type SentTransaction } from './confirmer.ts';
import { LedgerUnavailableError, type SendResult } from './sendResult.ts';

/** Public nodes refuse clients that ask more often. */
const POLL_MS = 400;
const REPEAT_MS = 2_400;

/**
 * Follows a signed transaction, in most cases a wallet's, until its fate is certain, and sends it
 * again now and then. A node that does not answer is asked again, without a time limit. The
 * transaction has expired once the final chain is past its last valid height.
 *
 * @param options.commitment from which on it counts as landed
 * @param options.signal ends the waiting
 * @param options.repeatMs between two sends, and between two questions for the block height
 * @returns undefined when the signal aborts before
 */
export async function followTransaction(
  transaction: SentTransaction,
  options: { rpc: Rpc; commitment: SenderCommitment; signal: AbortSignal; repeatMs?: number },
): Promise<SendResult | undefined> {
  const { rpc, commitment, signal, repeatMs = REPEAT_MS } = options;
  const confirmer = createConfirmer({
    rpc,
    commitment,
    heightCommitment: 'finalized',
    wsUrl: undefined,
    repeatMs,
    pollMsMin: POLL_MS,
  });
  signal.addEventListener('abort', confirmer.close, { once: true });
  while (!signal.aborted) {
    try {
      return await confirmer.confirm(transaction);
    } catch (error) {
      if (!(error instanceof LedgerUnavailableError)) throw error;
    }
  }
  return undefined;
}
