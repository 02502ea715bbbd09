import { delay } from '../../common/wait.ts';
import type { Commitment, LedgerSource } from '../source/source.ts';
import type { Progress } from './progress.ts';

const INTERVAL_MS = 1_000;

/**
 * Asks for the ledger's newest slot once a second until `signal` aborts, whatever the sweeps do:
 * one that takes long must show as lag.
 */
export async function followHead(options: {
  source: LedgerSource;
  commitment: Commitment;
  progress: Progress;
  signal: AbortSignal;
}): Promise<void> {
  const { source, commitment, progress, signal } = options;
  while (!signal.aborted) {
    progress.sawHead(await source.slot(commitment));
    await delay(INTERVAL_MS, signal);
  }
}
