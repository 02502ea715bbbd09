import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callLedger } from '../../testing/ledger/ledger.ts';
import { openSettlementScene, type SettlementScene } from './settlementScene.ts';

/** What a settlement of the scene's answer costs. */
const CHARGE = 3n;
/** What its lock holds. */
const LOCKED = 8n;
/** Of one wallet and worker, by the calls that a transaction may make. */
const FULL = 16;

let scene: SettlementScene;
beforeAll(async () => {
  scene = await openSettlementScene({ version: 1 });
});
afterAll(() => scene?.close());

interface Landed {
  readonly version: unknown;
  readonly meta: {
    readonly computeUnitsConsumed: number;
    readonly fee: number;
    readonly innerInstructions: readonly { readonly instructions: readonly unknown[] }[];
  };
}

const read = (signature: string) =>
  callLedger<Landed>(scene.ledger.rpcUrl, 'getTransaction', [
    signature,
    { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 1 },
  ]);

describe('where the ledger takes version 1', () => {
  it('sixteen settlements share a transaction, for one signature and 64 calls', async () => {
    const jobs = await scene.lockJobs(FULL);
    const before = await scene.availableCredits();
    const locked = BigInt(FULL) * LOCKED;
    const ends = await Promise.all(jobs.map((job) => scene.settleJob(job)));
    const signatures = new Set(ends.map((end) => ('signature' in end ? end.signature : null)));
    expect(signatures.size).toBe(1);
    const { version, meta } = await read(String([...signatures][0]));
    expect([version, meta.fee]).toEqual([1, 5_000]);
    const calls = meta.innerInstructions.flatMap(({ instructions }) => instructions);
    expect(FULL + calls.length).toBe(64);
    const after = await scene.availableCredits();
    expect(before + locked - after).toBe(BigInt(FULL) * CHARGE);
  });
});
