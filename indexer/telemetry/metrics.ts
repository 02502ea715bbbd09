import { Registry } from 'prom-client';
import { metricsOf } from '../../common/metricsOf.ts';
import type { LedgerEvent } from '../fold/event.ts';

/** How a task ended: by the keeper, by another process, by a refusal, or before the ledger judged. */
export type TaskResult = 'done' | 'superseded' | 'refused' | 'failed';

/** What an indexer process may be: a standby waits for the leader's connection to end. */
const ROLES = ['starting', 'leader', 'standby'] as const;

export type Role = (typeof ROLES)[number];

export type IndexerMetrics = ReturnType<typeof createMetrics>;

/**
 * How a reconciliation ended:
 *
 * - partial: nothing differs, but tokens kept moving, so that the vaults were not compared
 * - behind: nothing that could be compared differs, but the mirror was behind the ledger
 * - failed: nothing was compared
 */
export type ReconcileResult = 'clean' | 'partial' | 'behind' | 'breach' | 'failed';

/** What the gauges read of the mirror's progress. */
interface ObservedProgress {
  /** How long the mirror has not held everything; undefined while that is not known. */
  incompleteMs(): number | undefined;
  lag(): { slots: number } | undefined;
}

/** The indexer's metrics, in Prometheus's form. */
export function createMetrics(progress: ObservedProgress) {
  const registry = new Registry();
  const { counter, gauge, observe } = metricsOf(registry);
  const events = counter(
    'svc_indexer_events_total',
    'Events folded into the mirror; its rate is events per second',
    ['event'],
  );
  const cursor = gauge('svc_indexer_cursor_slot', 'Slot before which everything is stored');
  const roles = gauge(
    'svc_indexer_role',
    '1 for what this process is: starting, leader or standby; 0 for the others',
    ['role'],
  );
  // Not a number while another process keeps the mirror and exports its own.
  observe(
    'svc_indexer_lag_seconds',
    'Time in the lead since the mirror last held everything that the ledger listed',
    () => (progress.incompleteMs() ?? Number.NaN) / 1_000,
  );
  // Not a number while unknown: no alert compares with it.
  observe(
    'svc_indexer_lag_slots',
    'Slots of the ledger since the one up to which the mirror is complete',
    () => progress.lag()?.slots ?? Number.NaN,
  );
  const gaps = gauge('svc_indexer_gaps', 'Accounts that lack a change which a later event follows');
  const reverted = counter(
    'svc_indexer_rolled_back_transactions_total',
    'Confirmed transactions that vanished from the ledger',
  );
  const reconciliations = counter(
    'svc_indexer_reconciliations_total',
    'Comparisons of the mirror: clean, partial (all but the vaults), behind, breach or failed',
    ['result'],
  );
  const differences = gauge(
    'svc_indexer_reconcile_differences',
    'Differences that the last reconciliation found',
  );
  const due = gauge(
    'svc_keeper_due_tasks',
    'Tasks due when last looked; a round looks at 200 of a duty at most',
    ['duty'],
  );
  const duties = counter('svc_keeper_duties_total', 'What the keeper did on the ledger', [
    'duty',
    'result',
  ]);
  const suspensions = counter(
    'svc_abuse_suspensions_total',
    'Keys suspended because their wallets abused the service',
    ['reason'],
  );
  /** What this process is from now on. */
  function became(current: Role): void {
    for (const role of ROLES) roles.set({ role }, role === current ? 1 : 0);
    if (current !== 'standby') return;
    // The next leader exports these. Here the last values would stay for good.
    for (const gauge of [gaps, differences, due]) gauge.reset();
  }

  became('starting');
  return {
    registry,
    became,
    folded(folded: readonly LedgerEvent[]): void {
      for (const { name } of folded) events.inc({ event: name });
    },
    /** A sweep ended: everything it was shown is applied. */
    swept: (cursorSlot: bigint): void => cursor.set(Number(cursorSlot)),
    gaps: (accounts: number): void => gaps.set(accounts),
    reverted: (transactions: number): void => reverted.inc(transactions),
    /** A reconciliation ended. @param found unless not all was compared, or nothing was */
    reconciled(result: ReconcileResult, found?: number): void {
      reconciliations.inc({ result });
      if (found !== undefined) differences.set(found);
    },
    /** A round looked for what is due. */
    due: (name: string, tasks: number): void => due.set({ duty: name }, tasks),
    duty: (name: string, result: TaskResult): void => duties.inc({ duty: name, result }),
    /** A key was suspended for abuse. */
    suspended: (reason: string): void => suspensions.inc({ reason }),
  };
}
