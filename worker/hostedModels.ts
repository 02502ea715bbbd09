import type { WorkerLedger } from './ledger.ts';

/** Anybody may ask for a worker's health as often as they like; the ledger is asked this often. */
const KEPT_MS = 5_000;

/**
 * The ids of the hosted models, as the ledger has them.
 *
 * Askers at the same time share one reading; a failed one is not kept.
 *
 * @param now Unix time in milliseconds
 */
export function createHostedModels(
  ledger: WorkerLedger,
  now: () => number,
): () => Promise<string[]> {
  let kept: { models: Promise<string[]>; atMs: number } | undefined;
  return async () => {
    if (kept === undefined || now() - kept.atMs >= KEPT_MS) {
      kept = { models: ledger.readHostedModels(), atMs: now() };
    }
    try {
      return await kept.models;
    } catch (error) {
      kept = undefined;
      throw error;
    }
  };
}
