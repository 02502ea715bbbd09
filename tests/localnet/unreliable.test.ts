import { afterEach, describe, expect, it } from '@jest/globals';
import { Keypair, SystemProgram } from '@solana/web3.js';
import { createUnreliableMood } from '../../localnet/bank/mood.ts';
import { getSignatureStatuses } from '../../programs/client/rpc/methods.ts';
import { LONG_BLOCKHASH_MS } from '../../testing/ledger/ledger.ts';
import { createRandom } from '../../testing/random.ts';
import { until } from '../../testing/until.ts';
import { HELD_SLOT_MS, type LocalnetScene, openLocalnet } from './scene.ts';

const CONFIRMED = { commitment: 'confirmed' };
const SENT = { encoding: 'base64', preflightCommitment: 'confirmed' };
const SKIPPED = -32007;
const { seed } = createRandom();

let scene: LocalnetScene;
afterEach(() => scene?.close());

const open = async (options: Parameters<typeof openLocalnet>[0] = {}) => {
  scene = await openLocalnet({ unreliable: seed, blockhashMs: LONG_BLOCKHASH_MS, ...options });
};
const pay = (lamports: number, toPubkey = Keypair.generate().publicKey) =>
  SystemProgram.transfer({ fromPubkey: scene.payer.publicKey, toPubkey, lamports });

const statusesOf = async (signatures: readonly string[]) => {
  const options = { searchTransactionHistory: true };
  return (await getSignatureStatuses(scene.rpc, signatures, options)).value;
};

/** Sends so many transfers to one address, and sends again what was lost, as clients do. */
async function landAll(count: number, to = Keypair.generate().publicKey): Promise<string[]> {
  const signed = await Promise.all(
    Array.from({ length: count }, (_, index) => scene.sign([pay(5_000_000 + index, to)])),
  );
  const unsure = new Map(signed.map(({ signature, wire }) => [signature, wire.toString('base64')]));
  await until(async () => {
    for (const wire of unsure.values()) {
      await scene.ask('sendTransaction', wire, { ...SENT, skipPreflight: true });
    }
    const statuses = await statusesOf([...unsure.keys()]);
    for (const [index, signature] of [...unsure.keys()].entries()) {
      if (statuses[index]) unsure.delete(signature);
    }
    return unsure.size === 0;
  });
  return signed.map(({ signature }) => signature);
}

describe(`an unreliable ledger of seed ${seed}`, () => {
  it('skips slots, and a blockhash ages by heights', async () => {
    await open({ slotMs: HELD_SLOT_MS });
    const first = await scene.ask<number>('getSlot', CONFIRMED);
    await scene.ask('localnet_skipSlots', 100);
    const last = await scene.ask<number>('getSlot', CONFIRMED);
    const blocks = await scene.ask<number[]>('getBlocks', first, last, CONFIRMED);
    expect(blocks.length).toBeLessThan(last - first);
    expect([blocks[0], blocks.at(-1)]).toEqual([first, last]);
    expect(await scene.ask('getBlocksWithLimit', first, 5, CONFIRMED)).toEqual(blocks.slice(0, 5));
    const heads = await Promise.all(
      blocks.map((slot) =>
        scene.ask<{ blockHeight: number; parentSlot: number }>('getBlock', slot, CONFIRMED),
      ),
    );
    const [firstHeight = 0] = heads.map(({ blockHeight }) => blockHeight);
    expect(heads.map(({ blockHeight }) => blockHeight - firstHeight)).toEqual([...blocks.keys()]);
    expect(heads.slice(1).map(({ parentSlot }) => parentSlot)).toEqual(blocks.slice(0, -1));
    const height = await scene.ask<number>('getBlockHeight', CONFIRMED);
    expect(height).toBe(heads.at(-1)?.blockHeight);
    expect(await scene.ask('getEpochInfo', CONFIRMED)).toMatchObject({ blockHeight: height });
    for (let slot = first; slot <= last; slot += 1) {
      if (blocks.includes(slot)) continue;
      expect((await scene.call('getBlock', slot, CONFIRMED)).error?.code).toBe(SKIPPED);
      expect((await scene.call('getBlockTime', slot)).error?.code).toBe(SKIPPED);
    }
  });

  it('knows a blockhash up to the height that it named, and no longer', async () => {
    await open({ slotMs: HELD_SLOT_MS });
    const { value } = await scene.ask<{
      value: { blockhash: string; lastValidBlockHeight: number };
    }>('getLatestBlockhash', CONFIRMED);
    const isValid = async () => {
      const answer = await scene.ask<{ value: boolean }>('isBlockhashValid', value.blockhash, {
        commitment: 'processed',
      });
      return answer.value;
    };
    const height = () => scene.ask<number>('getBlockHeight', { commitment: 'processed' });
    // Slots without a block give no height.
    await scene.ask('localnet_skipSlots', value.lastValidBlockHeight - (await height()) - 10);
    while ((await height()) < value.lastValidBlockHeight) {
      expect(await isValid()).toBe(true);
      await scene.ask('localnet_skipSlots', 1);
    }
    expect(await isValid()).toBe(true);
    while ((await height()) === value.lastValidBlockHeight) {
      await scene.ask('localnet_skipSlots', 1);
    }
    expect(await isValid()).toBe(false);
  });

  it('starts in a slot that has a block, with any seed', async () => {
    for (let other = 0; other < 12; other += 1) {
      // It is given lamports, which would wait for an hour else.
      await open({ slotMs: HELD_SLOT_MS, unreliable: other });
      await scene.close();
    }
    await open();
  });

  it('loses some of what is sent, and executes nothing twice', async () => {
    const drawn = createUnreliableMood(seed).faults;
    const copies = Array.from({ length: 1_000 }, () => drawn?.delaysMs().length);
    for (const rare of [0, 2]) {
      const times = copies.filter((one) => one === rare).length;
      expect(times).toBeGreaterThan(10);
      expect(times).toBeLessThan(100);
    }
    await open();
    const count = 100;
    const { faults } = createUnreliableMood(seed);
    const isLost = Array.from({ length: count }, () => faults?.delaysMs().length === 0);
    // As new as the statuses.
    const balance = () => scene.connection.getBalance(scene.payer.publicKey, 'processed');
    const before = await balance();
    const signed = await Promise.all(
      Array.from({ length: count }, (_, index) => scene.sign([pay(5_000_000 + index)])),
    );
    for (const { wire, signature } of signed) {
      expect(await scene.ask('sendTransaction', wire.toString('base64'), SENT)).toBe(signature);
    }
    const sent = signed.map(({ signature }) => signature);
    const lost = isLost.filter(Boolean).length;
    await until(async () => (await statusesOf(sent)).filter(Boolean).length === count - lost);
    expect((await statusesOf(sent)).map((status) => status === null)).toEqual(isLost);
    const landed = [...isLost.keys()].filter((index) => !isLost[index]);
    const paid = landed.reduce((sum, index) => sum + 5_000_000 + index + 5_000, 0);
    expect(before - (await balance())).toBe(paid);
  });

  it('lets two conflicting ones pass their preflights, and fails one later', async () => {
    await open();
    const most = 600_000_000_000;
    const signed = await Promise.all([scene.sign([pay(most)]), scene.sign([pay(most)])]);
    const signatures = signed.map(({ signature }) => signature);
    await Promise.all(
      signed.map(({ wire }) => scene.ask('sendTransaction', wire.toString('base64'), SENT)),
    );
    await until(async () => {
      for (const { wire } of signed) {
        await scene.ask('sendTransaction', wire.toString('base64'), {
          ...SENT,
          skipPreflight: true,
        });
      }
      return (await statusesOf(signatures)).every(Boolean);
    });
    const errors = (await statusesOf(signatures)).map((status) => status?.err ?? null);
    expect(errors.filter((error) => error === null)).toHaveLength(1);
    expect(errors).toContainEqual({ InstructionError: [0, { Custom: 1 }] });
    // What a preflight refuses is no transaction at all.
    const { wire } = await scene.sign([pay(most)]);
    const { error } = await scene.call('sendTransaction', wire.toString('base64'), SENT);
    expect(error?.code).toBe(-32002);
  });

  it('lists a slot in another order each time', async () => {
    await open({ slotMs: HELD_SLOT_MS, confirmSlots: 1 });
    await scene.ask('localnet_skipSlots', 50);
    const to = Keypair.generate().publicKey;
    const signatures = await landAll(30, to);
    await scene.ask('localnet_skipSlots', 10);
    const slots = new Set((await statusesOf(signatures)).map((status) => status?.slot));
    expect(slots.size).toBe(1);
    const list = (config: object = {}) =>
      scene.ask<Record<string, unknown>[]>('getSignaturesForAddress', to.toBase58(), {
        ...CONFIRMED,
        ...config,
      });
    const readings = await Promise.all(Array.from({ length: 5 }, () => list()));
    const orders = readings.map((rows) => rows.map(({ signature }) => signature).join());
    expect(new Set(orders).size).toBe(readings.length);
    for (const rows of readings) {
      expect(rows.map(({ signature }) => signature).sort()).toEqual(signatures.toSorted());
      expect(rows.every((row) => !('transactionIndex' in row))).toBe(true);
    }
    expect(await list({ limit: 7 })).toHaveLength(7);
    const shown = await scene.ask('getTransaction', signatures[0], CONFIRMED);
    expect(shown).not.toHaveProperty('transactionIndex');
  });
});
