import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../common/logger.ts';
import { environmentSchema } from '../../indexer/config.ts';
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
  const reconciled: string[] = [];
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
    metrics: { reconciled: (...ended) => void reconciled.push(ended.join(' ').trim()) },
  });
  await reconcileWatch.run(stopping.signal);
  return { reconciled, waitedMs, breaches, logged };
}

describe('the reconcile watch', () => {
  const outage = new RetryableError('out of reach');
  /** What it counts, what it reports as each run's result, and the breaches in a row after it. */
  it.each<[string, (Reconciliation | Error)[], string[], number[]]>([
    [
      'breaches in a row, until a clean run',
      [WRONG, SHORT, WRONG, CLEAN, WRONG],
      ['breach 1', 'breach 0', 'breach 1', 'clean 0', 'breach 1'],
      [1, 2, 3, 0, 1],
    ],
    [
      'an unreachable ledger as neither a breach nor a clean run',
      [WRONG, outage, WRONG],
      ['breach 1', 'failed', 'breach 1'],
      [1, 1, 2],
    ],
    [
      'a mirror that is behind as neither of them',
      [WRONG, BEHIND, WRONG, BEHIND, CLEAN],
      ['breach 1', 'behind', 'breach 1', 'behind', 'clean 0'],
      [1, 1, 2, 2, 0],
    ],
    [
      'a difference in a mirror that is behind',
      [{ ...BEHIND, differences: WRONG.differences }],
      ['breach 1'],
      [1],
    ],
    [
      'vaults that were not compared as a partial run',
      [WRONG, PARTIAL],
      ['breach 1', 'partial 0'],
      [1, 0],
    ],
    [
      'a shortage until the vaults are compared again',
      [SHORT, PARTIAL, CLEAN],
      ['breach 0', 'partial 0', 'clean 0'],
      [1, 1, 0],
    ],
  ])('counts %s', async (_what, results, reported, counted) => {
    const { breaches, reconciled } = await watch(results);
    expect(reconciled).toEqual(reported);
    expect(breaches).toEqual(counted);
  });

  it('logs what it could not compare, as an error from the third time on', async () => {
    const { logged } = await watch([outage, outage, outage, CLEAN, outage, BEHIND, PARTIAL]);
    expect(logged.map(({ level, failures, slots }) => [level, failures ?? slots])).toEqual([
      [WARN, 1],
      [WARN, 2],
      [ERROR, 3],
      [WARN, 1],
      [WARN, 9_000],
      [WARN, undefined],
    ]);
  });

  it('ends with an error that a retry cannot mend', async () => {
    await expect(watch([new FatalError('no such table')])).rejects.toThrow('no such table');
  });

  it('varies its first wait by up to a fifth', async () => {
    const waits = await Promise.all([0, 0.5, 1].map((random) => watch([CLEAN], random)));
    expect(waits.map(({ waitedMs }) => waitedMs[0])).toEqual([48_000, 60_000, 72_000]);
  });

  it('takes no interval that is too long for a timer', () => {
    const interval = environmentSchema.shape.SVC_RECONCILE_INTERVAL_SECONDS;
    const isTaken = ['1209600', '1209601'].map((seconds) => interval.safeParse(seconds).success);
    expect(isTaken).toEqual([true, false]);
  });
});
