import { checkSigner } from './checkSigner.ts';
import type { LedgerContext } from './context.ts';

/** Between two words about a node that does not answer. */
const SILENCE_MS = 5_000;

/**
 * Waits for the ledger's time, without which no deadline of a job can be judged, but not in silence;
 * then looks whether the ledger will let this process lock anything.
 *
 * @returns false when the clock was closed before it was read
 */
export async function reachLedger(context: LedgerContext): Promise<boolean> {
  const { clock, logger } = context;
  const speaking = setInterval(
    () => logger.warn({ msg: 'Waiting for the node at SOLANA_RPC_URL to tell the time' }),
    SILENCE_MS,
  );
  const isRead = await clock.ready.then(
    () => true,
    () => false,
  );
  clearInterval(speaking);
  if (isRead) await checkSigner(context);
  return isRead;
}
