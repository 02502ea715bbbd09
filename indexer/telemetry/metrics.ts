import { Counter, Gauge, Registry } from 'prom-client';
import type { LedgerEvent } from '../fold/event.ts';

/** How a task ended: by the keeper, by another process, by a refusal, or before the ledger judged. */
export type TaskResult = 'done' | 'superseded' | 'refused' | 'failed';

/** What an indexer process may be: a standby waits for the leader's connection to end. */
const ROLES = ['starting', 'leader', 'standby'] as const;

export type Role = (typeof ROLES)[number];

/** The indexer's metrics, in Prometheus's form. */
export interface IndexerMetrics {
  readonly registry: Registry;
  /** What this process is from now on. */
  became(role: Role): void;
  folded(events: readonly LedgerEvent[]): void;
  /** A sweep ended: everything it was shown is applied. */
  swept(cursorSlot: bigint): void;
  gaps(accounts: number): void;
  reverted(transactions: number): void;
  /** A reconciliation ended. @param differences unless not all was compared, or nothing was */
  reconciled(result: ReconcileResult, differences?: number): void;
  duty(name: string, result: TaskResult): void;
  /** A round looked for what is due. */
  due(name: string, tasks: number): void;
  /** A key was suspended for abuse. */
  suspended(reason: string): void;
}

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

export function createMetrics(progress: ObservedProgress): IndexerMetrics {
  const registry = new Registry();
  const registers = [registry];
  const events = new Counter({
    name: 'svc_indexer_events_total',
    help: 'Events folded into the mirror; its rate is events per second',
    labelNames: ['event'],
    registers,
  });
  const cursor = new Gauge({
    name: 'svc_indexer_cursor_slot',
    help: 'Slot before which everything is stored',
    registers,
  });
  const roles = new Gauge({
    name: 'svc_indexer_role',
    help: '1 for what this process is: starting, leader or standby; 0 for the others',
    labelNames: ['role'],
    registers,
  });
  // Not a number while another process keeps the mirror and exports its own.
  new Gauge({
    name: 'svc_indexer_lag_seconds',
    help: 'Time in the lead since the mirror last held everything that the ledger listed',
    registers,
    collect() {
      this.set((progress.incompleteMs() ?? Number.NaN) / 1_000);
    },
  });
  // Not a number while unknown: no alert compares with it.
  new Gauge({
    name: 'svc_indexer_lag_slots',
    help: 'Slots of the ledger since the one up to which the mirror is complete',
    registers,
    collect() {
      this.set(progress.lag()?.slots ?? Number.NaN);
    },
  });
  const gaps = new Gauge({
    name: 'svc_indexer_gaps',
    help: 'Accounts that lack a change which a later event follows',
    registers,
  });
  const reverted = new Counter({
    name: 'svc_indexer_rolled_back_transactions_total',
    help: 'Confirmed transactions that vanished from the ledger',
    registers,
  });
  const reconciliations = new Counter({
    name: 'svc_indexer_reconciliations_total',
    help: 'Comparisons of the mirror: clean, partial (all but the vaults), behind, breach or failed',
    labelNames: ['result'],
    registers,
  });
  const differences = new Gauge({
    name: 'svc_indexer_reconcile_differences',
    help: 'Differences that the last reconciliation found',
    registers,
  });
  const due = new Gauge({
    name: 'svc_keeper_due_tasks',
    help: 'Tasks due when last looked; a round looks at 200 of a duty at most',
    labelNames: ['duty'],
    registers,
  });
  const duties = new Counter({
    name: 'svc_keeper_duties_total',
    help: 'What the keeper did on the ledger',
    labelNames: ['duty', 'result'],
    registers,
  });
  const suspensions = new Counter({
    name: 'svc_abuse_suspensions_total',
    help: 'Keys suspended because their wallets abused the service',
    labelNames: ['reason'],
    registers,
  });
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
    folded(folded) {
      for (const { name } of folded) events.inc({ event: name });
    },
    swept: (cursorSlot) => cursor.set(Number(cursorSlot)),
    gaps: (accounts) => gaps.set(accounts),
    reverted: (transactions) => reverted.inc(transactions),
    reconciled(result, found) {
      reconciliations.inc({ result });
      if (found !== undefined) differences.set(found);
    },
    due: (name, tasks) => due.set({ duty: name }, tasks),
    duty: (name, result) => duties.inc({ duty: name, result }),
    suspended: (reason) => suspensions.inc({ reason }),
  };
}
