import { once } from 'node:events';
import type { Logger } from '../../common/logger.ts';
import type { delay } from '../../common/wait.ts';
import { classify, FatalError } from '../source/errors.ts';
import type { IndexerMetrics, ReconcileResult } from '../telemetry/metrics.ts';
import { holdsTooLittle, isBreach, type Reconciliation } from './reconcile.ts';

/** Reconciles again and again, and knows how it went. */
export interface ReconcileWatch {
  /** Works until `signal` aborts. @throws FatalError */
  run(signal: AbortSignal): Promise<void>;
  /** How many reconciliations in a row, up to the last one, found a difference. */
  breaches(): number;
}

/** Several installations on one node must not all read everything at once. */
const JITTER = 0.2;
/** Reading everything takes a fifth of the time at most, however much there is. */
const REST_PER_RUN = 4;
/** Of a mirror that is wrong as a whole the first ones tell as much as all. */
const LOGGED_MAX = 100;
/** How long a reconciliation waits for a mirror that is behind; more is the lag's to tell. */
export const MIRROR_PATIENCE_MS = 60_000;
/** An outage may take two runs; what fails more often does not pass by itself. */
const FAILURES_QUIET_MAX = 2;

/**
 * @param options.random in [0, 1)
 * @param options.wait how time passes between two runs
 */
export function createReconcileWatch(options: {
  reconcile: (signal: AbortSignal) => Promise<Reconciliation>;
  intervalMs: number;
  random: () => number;
  wait: typeof delay;
  logger: Logger;
  metrics: Pick<IndexerMetrics, 'reconciled'>;
}): ReconcileWatch {
  const { reconcile, intervalMs, random, wait, logger, metrics } = options;
  let breaches = 0;
  let failures = 0;
  /** Whether a vault held too little when the vaults were last compared. */
  let isShort = false;

  function conclude(result: Reconciliation): void {
    const { slot, accounts, differences, behind, conservation } = result;
    const word = wordFor(result);
    failures = 0;
    if (conservation) isShort = conservation.some(holdsTooLittle);
    if (word === 'breach') breaches += 1;
    // A shortage is over once the vaults were compared again, and not before; a difference once all
    // was.
    else if (!isShort && word !== 'behind') breaches = 0;
    metrics.reconciled(word, word === 'behind' ? undefined : differences.length);
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

  async function reconcileOnce(signal: AbortSignal): Promise<void> {
    try {
      const result = await reconcile(signal);
      if (!signal.aborted) conclude(result);
    } catch (error) {
      if (signal.aborted) return;
      const failure = classify(error);
      if (failure instanceof FatalError) throw failure;
      // Nothing was compared, so nothing is known; the next one is due like any other.
      failures += 1;
      metrics.reconciled('failed');
      const level = failures > FAILURES_QUIET_MAX ? 'error' : 'warn';
      logger[level]({ msg: 'Could not reconcile', failures, reason: failure.message });
    }
  }

  return {
    async run(signal) {
      let tookMs = 0;
      while (!signal.aborted) {
        const restMs = Math.max(intervalMs, REST_PER_RUN * tookMs);
        await wait(restMs * (1 + JITTER * (2 * random() - 1)), signal);
        if (signal.aborted) return;
        const startMs = performance.now();
        // A node may take long over its accounts; whoever ends this does not wait for it.
        await Promise.race([reconcileOnce(signal), once(signal, 'abort')]);
        tookMs = performance.now() - startMs;
      }
    },
    breaches: () => breaches,
  };
}

function wordFor(result: Reconciliation): ReconcileResult {
  if (isBreach(result)) return 'breach';
  if (result.behind) return 'behind';
  return result.conservation ? 'clean' : 'partial';
}
