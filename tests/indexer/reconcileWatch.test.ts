import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../common/logger.ts';
import type { Reconciliation } from '../../indexer/reconcile/reconcile.ts';
import { createReconcileWatch } from '../../indexer/reconcile/reconcileWatch.ts';
import { FatalError, RetryableError } from '../../indexer/source/errors.ts';

const INTERVAL_MS = 60_000;
/** As log lines number their levels. */
const [WARN, ERROR] = [40, 50];
const CLEAN: Reconciliation = {
  slot: 1,
  accounts: 1,
  blankAccounts: 0,
  differences: [],
  behind: null,
  conservation: [],
};
const BEHIND: Reconciliation = { ...CLEAN, behind: { slots: 9_000, accounts: 3 } };
const WRONG: Reconciliation = {
  ...CLEAN,
  differences: [
    { against: 'ledger', address: 'a', column: 'sequence', mirror: '1', expected: '2' },
  ],
};
/** Tokens moved all the time, so the vaults were not compared. */
const PARTIAL: Reconciliation = { ...CLEAN, conservation: null };
const SHORT: Reconciliation = {
  ...CLEAN,
  conservation: [{ vault: 'vault', heldBaseUnits: 1n, dueBaseUnits: 2n }],
};

let stopping: AbortController;
beforeEach(() => {
  stopping = new AbortController();
});
afterEach(() => stopping.abort());

/**
 * Runs as often as there are results, and stops.
 *
 * @param results each for one run; an error is thrown
 */
async function watch(results: (Reconciliation | Error)[], random = 0.5) {
  const left = [...results];
  const reconciled: [result: string, differences?: number | undefined][] = [];
  const logged: Record<string, unknown>[] = [];
  const into = { write: (line: string) => void logged.push(JSON.parse(line)) };
  const waitedMs: number[] = [];
  const breaches: number[] = [];
  const reconcileWatch = createReconcileWatch({
    async reconcile() {
      const result = left.shift() ?? CLEAN;
      if (result instanceof Error) throw result;
      return result;
    },
    async wait(ms) {
      if (waitedMs.length > 0) breaches.push(reconcileWatch.breaches());
      if (left.length === 0) stopping.abort();
      waitedMs.push(ms);
    },
    ...{ intervalMs: INTERVAL_MS, random: () => random },
    logger: createLogger({ name: 'test', level: 'warn', into }),
    metrics: { reconciled: (...ended) => void reconciled.push(ended) },
  });
  await reconcileWatch.run(stopping.signal);
  return { reconciled, waitedMs, breaches, logged };
}

describe('the reconcile watch', () => {
  it('counts breaches in a row and restarts after a clean run', async () => {
    const { breaches, reconciled } = await watch([WRONG, SHORT, WRONG, CLEAN, WRONG]);
    expect(breaches).toEqual([1, 2, 3, 0, 1]);
    expect(reconciled).toEqual([
      ['breach', 1],
      ['breach', 0],
      ['breach', 1],
      ['clean', 0],
      ['breach', 1],
    ]);
  });

  it('counts an unreachable ledger as neither breach nor clean run', async () => {
    const outage = new RetryableError('out of reach');
    const { breaches, reconciled } = await watch([WRONG, outage, WRONG]);
    expect(breaches).toEqual([1, 1, 2]);
    expect(reconciled).toEqual([['breach', 1], ['failed'], ['breach', 1]]);
  });

  it('counts a mirror that is behind as neither breach, success nor error', async () => {
    const { breaches, reconciled, logged } = await watch([WRONG, BEHIND, WRONG, BEHIND, CLEAN]);
    expect(breaches).toEqual([1, 1, 2, 2, 0]);
    expect(reconciled).toEqual([
      ['breach', 1],
      ['behind', undefined],
      ['breach', 1],
      ['behind', undefined],
      ['clean', 0],
    ]);
    const warnings = logged.filter(({ slots }) => slots !== undefined);
    expect(warnings.map(({ level, slots, waiting }) => [level, slots, waiting])).toEqual([
      [WARN, 9_000, 3],
      [WARN, 9_000, 3],
    ]);
  });

  it('counts a difference in a mirror that is behind', async () => {
    const { breaches, reconciled } = await watch([{ ...BEHIND, differences: WRONG.differences }]);
    expect(breaches).toEqual([1]);
    expect(reconciled).toEqual([['breach', 1]]);
  });

  it('reports vaults that were not compared as a partial run, not as a breach', async () => {
    const { breaches, reconciled, logged } = await watch([WRONG, PARTIAL]);
    expect(breaches).toEqual([1, 0]);
    expect(reconciled.at(-1)).toEqual(['partial', 0]);
    expect(logged.at(-1)).toMatchObject({ msg: 'Could not compare the vaults' });
  });

  it('keeps counting a shortage until the vaults are compared again', async () => {
    const { breaches } = await watch([SHORT, PARTIAL, CLEAN]);
    expect(breaches).toEqual([1, 1, 0]);
  });

  it('logs an error from the third failure in a row on', async () => {
    const outage = new RetryableError('out of reach');
    const { logged } = await watch([outage, outage, outage, outage, CLEAN, outage]);
    expect(logged.map(({ level, failures }) => [level, failures])).toEqual([
      [WARN, 1],
      [WARN, 2],
      [ERROR, 3],
      [ERROR, 4],
      [WARN, 1],
    ]);
  });

  it('ends with an error that a retry cannot mend', async () => {
    await expect(watch([new FatalError('no such table')])).rejects.toThrow('no such table');
  });

  it('varies its first wait by up to a fifth', async () => {
    const waits = await Promise.all([0, 0.5, 1].map((random) => watch([CLEAN], random)));
    expect(waits.map(({ waitedMs }) => waitedMs[0])).toEqual([48_000, 60_000, 72_000]);
  });
});
