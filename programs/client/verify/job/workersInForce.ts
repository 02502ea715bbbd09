import type { PublicKey } from '@solana/web3.js';
import type { Evidence, PlacedEvent } from './evidence.ts';

/**
 * How the ledger recorded a worker's keys during a slot: the last record before it, and those made
 * in it, since the order within one slot is not looked at.
 *
 * @returns nothing when no record from before the slot is known
 */
export function workersInForce(
  { worker: { records }, addresses }: Evidence,
  { worker, slot }: { worker: PublicKey; slot: bigint },
): PlacedEvent<'WorkerRegistered' | 'WorkerUpdated'>[] {
  const own = records.filter(
    ({ data }) => data.worker.equals(worker) && addresses.worker(data.authority).equals(worker),
  );
  const before = own.findLast(({ transaction }) => transaction.slot < slot);
  const during = own.filter(({ transaction }) => transaction.slot === slot);
  if (before) return [before, ...during];
  return during.some(({ name }) => name === 'WorkerRegistered') ? during : [];
}
