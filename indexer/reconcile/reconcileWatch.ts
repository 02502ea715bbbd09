import { once } from 'node:events';
import type { Logger } from '../../common/logger.ts';
import type { delay } from '../../common/wait.ts';
import { classify, FatalError } from '../source/errors.ts';
import type { IndexerMetrics, ReconcileResult } from '../telemetry/metrics.ts';
import { holdsTooLittle, isBreach, type Reconciliation } from './reconcile.ts';

export type ReconcileWatch = ReturnType<typeof createReconcileWatch>;

/** Several installations on one node must not all read everything at once. */
const JITTER = 0.2;
/** Reading everything takes a fifth of the time at most, however much there is. */
const REST_PER_RUN = 4;
/** Enough to see what is wrong with a mirror. */
const LOGGED_MAX = 100;
/** How long a reconciliation waits for a mirror that is behind. Readiness reports a longer lag. */
export const MIRROR_PATIENCE_MS = 60_000;
/** An outage may take two runs. What fails more often does not pass by itself. */
const FAILURES_QUIET_MAX = 2;

interface Options {
  readonly reconcile: (signal: AbortSignal) => Promise<Reconciliation>;
  readonly intervalMs: number;
  /** In [0, 1). */
  readonly random: () => number;
  /** How time passes between two runs. */
  readonly wait: typeof delay;
  readonly logger: Logger;
  readonly metrics: Pick<IndexerMetrics, 'reconciled'>;
}

/** Reconciles at intervals, and counts the breaches. */
export function createReconcileWatch(options: Options) {
  const { reconcile, intervalMs, random, wait, logger, metrics } = options;
  let breaches = 0;
  let failures = 0;
  /** Whether a vault held too little when the vaults were last compared. */
  let isShort = false;

  function conclude(result: Reconciliation): void {
    const { differences, conservation } = result;
    const word = wordFor(result);
    failures = 0;
    if (conservation) isShort = conservation.some(holdsTooLittle);
    if (word === 'breach') breaches += 1;
    // A shortage ends once the vaults were compared again, and a difference once everything was.
    else if (!isShort && word !== 'behind') breaches = 0;
    metrics.reconciled(word, word === 'behind' ? undefined : differences.length);
    logResult(logger, result, breaches);
  }

  async function reconcileOnce(signal: AbortSignal): Promise<void> {
    try {
      const result = await reconcile(signal);
      if (!signal.aborted) conclude(result);
    } catch (error) {
      if (signal.aborted) return;
      const failure = classify(error);
      if (failure instanceof FatalError) throw failure;
      // Nothing was compared, so the breaches stay; the next run comes after the usual pause.
      failures += 1;
      metrics.reconciled('failed');
      const level = failures > FAILURES_QUIET_MAX ? 'error' : 'warn';
      logger[level]({ msg: 'Could not reconcile', failures, reason: failure.message });
    }
  }

  return {
    /** Works until `signal` aborts. @throws FatalError */
    async run(signal: AbortSignal): Promise<void> {
      let tookMs = 0;
      while (!signal.aborted) {
        const restMs = Math.max(intervalMs, REST_PER_RUN * tookMs);
        await wait(restMs * (1 + JITTER * (2 * random() - 1)), signal);
        if (signal.aborted) return;
        const startMs = performance.now();
        // A node may take long over its accounts, and a shutdown does not wait for it.
        await Promise.race([reconcileOnce(signal), once(signal, 'abort')]);
        tookMs = performance.now() - startMs;
      }
    },
    /** How many reconciliations in a row, up to the last one, found a difference. */
    breaches: (): number => breaches,
  };
}

function wordFor(result: Reconciliation): ReconcileResult {
  if (isBreach(result)) return 'breach';
  if (result.behind) return 'behind';
  return result.conservation ? 'clean' : 'partial';
}

function logResult(logger: Logger, result: Reconciliation, breaches: number): void {
  const { slot, accounts, differences, behind, conservation } = result;
  for (const difference of differences.slice(0, LOGGED_MAX)) {
    logger.error({ msg: 'Found a difference in the mirror', slot, ...difference });
  }
  for (const short of (conservation ?? []).filter(holdsTooLittle)) {
    const { vault, heldBaseUnits, dueBaseUnits } = short;
    const amounts = { held_base_units: `${heldBaseUnits}`, due_base_units: `${dueBaseUnits}` };
    logger.error({ msg: 'Found a vault with less than it owes', slot, vault, ...amounts });
  }
  if (!conservation) logger.warn({ msg: 'Could not compare the vaults', slot });
  if (behind) {
    const { slots, accounts: waiting } = behind;
    logger.warn({ msg: 'Could not compare all: the mirror is behind', slot, slots, waiting });
  }
  logger.info({ msg: 'Reconciled', slot, accounts, differences: differences.length, breaches });
}
