import type { PublicKey } from '@solana/web3.js';
import { Gauge, type Registry } from 'prom-client';
import { getBalance } from '../../programs/client/rpc/accounts.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { delay } from '../../runtime/wait.ts';

/** Thousands of transactions cost less than what an operator should ever let it sink to. */
const READ_INTERVAL_MS = 60_000;

/**
 * Shows what the fee payers have left, read at once and then once a minute. While the node does not
 * tell, there is no sample: an old one would hide that they run dry.
 *
 * @returns `close` ends the reading
 */
export function observeFeePayers(
  registry: Registry,
  parts: { rpc: Rpc; feePayers: readonly PublicKey[] },
): { close(): void } {
  const { rpc, feePayers } = parts;
  const closing = new AbortController();
  const gauge = new Gauge({
    name: 'svc_api_fee_payer_lamports',
    help: 'What each fee payer has left, in lamports',
    labelNames: ['address'],
    registers: [registry],
  });

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
  // Not waited for: a node that is silent must not use up the time for ending.
  return { close: () => closing.abort() };
}
