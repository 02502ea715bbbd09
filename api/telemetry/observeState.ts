import { Gauge, type Registry } from 'prom-client';
import type { LedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import type { WorkerDirectory } from '../routing/workerDirectory.ts';

/** Shows what others keep: it is read when somebody asks. */
export function observeState(
  registry: Registry,
  parts: {
    clock: Pick<LedgerClock, 'isRead' | 'offsetMs'>;
    directory: Pick<WorkerDirectory, 'answering'>;
  },
): void {
  const { clock, directory } = parts;
  const registers = [registry];
  new Gauge({
    name: 'svc_api_ledger_clock_offset_seconds',
    help: "The ledger's time minus this machine's; no number before it was read",
    registers,
    collect() {
      this.set(clock.isRead ? clock.offsetMs / 1_000 : Number.NaN);
    },
  });
  new Gauge({
    name: 'svc_api_workers',
    help: 'Workers that answered their last probe',
    registers,
    collect() {
      this.set(directory.answering().length);
    },
  });
  new Gauge({
    name: 'svc_api_worker_slots',
    help: 'Places at those workers',
    registers,
    collect() {
      this.set(sum(directory.answering().map(({ slots }) => slots)));
    },
  });
  new Gauge({
    name: 'svc_api_worker_slots_held',
    help: 'Places of them that this process holds',
    registers,
    collect() {
      this.set(sum(directory.answering().map(({ inFlight }) => inFlight)));
    },
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
