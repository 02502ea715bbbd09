import type { PublicKey } from '@solana/web3.js';
import { Counter, type Registry } from 'prom-client';
import { metricsOf } from '../../common/metricsOf.ts';
import { delay } from '../../common/wait.ts';
import { getBalance } from '../../programs/client/rpc/methods.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import type { LedgerClock } from '../../programs/client/sender/ledgerClock.ts';
import type { WorkerDirectory } from '../workers/directory.ts';

/** Within a minute, fees cost far less than the least balance that an operator should allow. */
const READ_INTERVAL_MS = 60_000;

/**
 * Shows what the fee payers have left, read at once and then once a minute. While the node does not
 * answer, there is no sample: an old one would hide that they run dry.
 *
 * @returns `close` ends the reading
 */
export function observeFeePayers(
  registry: Registry,
  parts: { rpc: Rpc; feePayers: readonly PublicKey[] },
): { close(): void } {
  const { rpc, feePayers } = parts;
  const closing = new AbortController();
  const gauge = metricsOf(registry).gauge(
    'svc_api_fee_payer_lamports',
    'What each fee payer has left, in lamports',
    ['address'],
  );

  async function read(address: PublicKey): Promise<void> {
    const labels = { address: address.toBase58() };
    try {
      gauge.set(labels, await getBalance(rpc, labels.address, { commitment: 'confirmed' }));
    } catch {
      gauge.remove(labels);
    }
  }

  async function follow(): Promise<void> {
    while (!closing.signal.aborted) {
      await Promise.all(feePayers.map(read));
      await delay(READ_INTERVAL_MS, closing.signal);
    }
  }

  void follow();
  // Does not wait for a silent node, which would use up the time for ending.
  return { close: () => closing.abort() };
}

/** Shows what other parts keep, read at each scrape. */
export function observeState(
  registry: Registry,
  parts: {
    clock: Pick<LedgerClock, 'isRead' | 'offsetMs'>;
    directory: Pick<WorkerDirectory, 'answering'>;
  },
): void {
  const { clock, directory } = parts;
  const { observe } = metricsOf(registry);
  const { answering } = directory;
  observe(
    'svc_api_ledger_clock_offset_seconds',
    "The ledger's time minus this machine's; no number before it was read",
    () => (clock.isRead ? clock.offsetMs / 1_000 : Number.NaN),
  );
  observe('svc_api_workers', 'Workers that answered their last probe', () => answering().length);
  observe('svc_api_worker_slots', 'Places at those workers', () =>
    sum(answering().map(({ capacity }) => capacity)),
  );
  observe('svc_api_worker_slots_held', 'Places of them that this process holds', () =>
    sum(answering().map(({ inFlight }) => inFlight)),
  );
  new Counter({
    name: 'svc_api_worker_failures_total',
    help: 'Incidents for which a worker cooled down',
    labelNames: ['worker'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { address, cooldown } of answering()) {
        this.inc({ worker: address }, cooldown.failuresTotal);
      }
    },
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
