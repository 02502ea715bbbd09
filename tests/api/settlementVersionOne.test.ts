import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
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

  it('a fault among them costs the others one transaction more', async () => {
    const jobs = await scene.lockJobs(FULL);
    const sent = scene.sent();
    const [first, ...others] = jobs;
    const forged = first && scene.answerTo(first, { key: Keypair.generate() });
    const ends = await Promise.all([
      ...jobs.slice(0, 1).map((job) => scene.settleJob(job, forged)),
      ...others.map((job) => scene.settleJob(job)),
    ]);
    expect(ends[0]).toMatchObject({ status: 'failed' });
    expect(ends.slice(1)).toMatchObject(Array(FULL - 1).fill({ status: 'settled' }));
    // The refused one, that of the others, and the failure of the job.
    expect(scene.sent() - sent).toBe(3);
  });
});
