import { describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createAddresses } from '../../programs/client/addresses.ts';
import type { LedgerNode } from '../../programs/client/rpc/rpc.ts';
import { connectLedger } from '../../programs/client/verify/connection/connectLedger.ts';
import { type Evidence, workersInForce } from '../../programs/client/verify/job/evidence.ts';
import { createLedgerReader } from '../../programs/client/verify/job/ledgerReader.ts';

const addresses = createAddresses();
const authority = Keypair.generate().publicKey;
const worker = addresses.worker(authority);

/** @param index its position in the block of slot 7; undefined where the node does not say */
const recordAt = (name: string, slot: bigint, index?: number) => ({
  name,
  data: { worker, authority },
  transaction: { slot, index },
});

/** The positions of the records that may hold for a proof of slot 7. */
function inForce(records: ReturnType<typeof recordAt>[], index?: number): unknown[] {
  const evidence = { worker: { records }, addresses } as unknown as Evidence;
  const found = workersInForce(evidence, { worker, at: { slot: 7n, index } });
  return found.map((one) => records.indexOf(one as never));
}

describe('the keys of a worker, changed in the slot of its proof', () => {
  const registered = recordAt('WorkerRegistered', 3n, 0);

  it('are those before the proof, where the node says the order', () => {
    const records = [
      registered,
      recordAt('WorkerUpdated', 7n, 2),
      recordAt('WorkerUpdated', 7n, 5),
    ];
    expect(inForce(records, 1)).toEqual([0]);
    expect(inForce(records, 3)).toEqual([1]);
    expect(inForce(records, 6)).toEqual([2]);
    // The proof and a record in one transaction.
    expect(inForce(records, 5)).toEqual([1, 2]);
  });

  it('are any of them, where it does not', () => {
    const records = [registered, recordAt('WorkerUpdated', 7n), recordAt('WorkerUpdated', 7n)];
    expect(inForce(records, 3)).toEqual([0, 1, 2]);
    expect(inForce([registered, recordAt('WorkerUpdated', 7n, 2)])).toEqual([0, 1]);
  });

  it('count from a registration in that slot', () => {
    expect(inForce([recordAt('WorkerRegistered', 7n, 1)], 3)).toEqual([0]);
    expect(inForce([recordAt('WorkerRegistered', 7n)])).toEqual([0]);
    expect(inForce([recordAt('WorkerRegistered', 7n, 4)], 3)).toEqual([]);
  });
});

describe('a history that is read', () => {
  it('has the transactions of a slot in the order of its block', async () => {
    const rows = [1, 3, 2].map((transactionIndex) => ({
      ...{ signature: `${transactionIndex}`, slot: 7, err: null, transactionIndex },
    }));
    const pages: unknown[] = [rows, []];
    const node: LedgerNode = { ask: async (_method, _params, read) => read(pages.shift()) };
    const reader = createLedgerReader(connectLedger(node), addresses.programId);
    const listed: string[] = [];
    for await (const { signature } of reader.list(worker)) listed.push(signature);
    expect(listed).toEqual(['3', '2', '1']);
  });
});
