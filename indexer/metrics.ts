import { Counter, Gauge, Registry } from 'prom-client';
import type { LedgerEvent } from './decode.ts';
import type { TaskResult } from './keeper/duty.ts';

/** What the indexer tells about its work, in Prometheus's form. */
export interface IndexerMetrics {
  readonly registry: Registry;
  folded(events: readonly LedgerEvent[]): void;
  /** A sweep ended: everything it was shown is applied. */
  swept(cursorSlot: bigint): void;
  gaps(accounts: number): void;
  rolledBack(transactions: number): void;
  duty(name: string, result: TaskResult): void;
}

export function createMetrics(now: () => number = Date.now): IndexerMetrics {
  const registry = new Registry();
  const registers = [registry];
  let sweptAtMs = now();
  const events = new Counter({
    name: 'svc_indexer_events_total',
    help: 'Events folded into the mirror',
    labelNames: ['event'],
    registers,
  });
  const cursor = new Gauge({
    name: 'svc_indexer_cursor_slot',
    help: 'Slot before which everything is stored',
    registers,
  });
  new Gauge({
    name: 'svc_indexer_lag_seconds',
    help: 'Time since the mirror last held everything that the ledger listed',
    registers,
    collect() {
      this.set((now() - sweptAtMs) / 1_000);
    },
  });
  const gaps = new Gauge({
    name: 'svc_indexer_gaps',
    help: 'Accounts that lack a change which a later event follows',
    registers,
  });
  const rolledBack = new Counter({
    name: 'svc_indexer_rolled_back_transactions_total',
    help: 'Confirmed transactions that vanished from the ledger',
    registers,
  });
  const duties = new Counter({
    name: 'svc_keeper_duties_total',
    help: 'What the keeper did on the ledger',
    labelNames: ['duty', 'result'],
    registers,
  });
  return {
    registry,
    folded(folded) {
      for (const { name } of folded) events.inc({ event: name });
    },
    swept(cursorSlot) {
      sweptAtMs = now();
      cursor.set(Number(cursorSlot));
    },
    gaps: (accounts) => gaps.set(accounts),
    rolledBack: (transactions) => rolledBack.inc(transactions),
    duty: (name, result) => duties.inc({ duty: name, result }),
  };
}
