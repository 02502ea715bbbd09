import { describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createFloat } from '../../api/ledger/context.ts';
import { createRpc } from '../../programs/client/rpc/rpc.ts';
import { until } from '../../testing/until.ts';

const SOL = 1_000_000_000;
const RESERVE = 50_000_000;

/** A float whose node reports this balance; null: the node does not answer. */
function createScene({ lamports = SOL as number | null, others = 0 } = {}) {
  const state = { lamports, nowMs: 0, readings: 0 };
  const rpc = createRpc({
    async post() {
      state.readings += 1;
      if (state.lamports === null) throw new Error('connect ECONNREFUSED');
      const result = { context: { slot: 1 }, value: state.lamports };
      return { status: 200, text: JSON.stringify({ result }) };
    },
  });
  const float = createFloat({
    ...{ rpc, commitment: 'confirmed', nowMs: () => state.nowMs },
    feePayers: Array.from({ length: 1 + others }, () => Keypair.generate().publicKey),
  });
  return { ...float, state };
}

describe('the SOL of the hot signer', () => {
  it('allows locks down to 0.05 SOL', async () => {
    expect(await createScene({ lamports: RESERVE }).allowsLock()).toBe(true);
    expect(await createScene({ lamports: RESERVE - 1 }).allowsLock()).toBe(false);
  });

  it('is read once in five seconds while it suffices', async () => {
    const { allowsLock, state } = createScene();
    for (let lock = 0; lock < 100; lock += 1) await allowsLock();
    expect(state.readings).toBe(1);
    state.nowMs = 5_000;
    await allowsLock();
    expect(state.readings).toBe(2);
  });

  it('is awaited when the last reading is half a minute old', async () => {
    const { allowsLock, state } = createScene();
    await allowsLock();
    state.lamports = 0;
    state.nowMs = 29_999;
    expect(await allowsLock()).toBe(true);
    const { allowsLock: allowsLater, state: later } = createScene();
    await allowsLater();
    later.lamports = 0;
    later.nowMs = 30_000;
    expect(await allowsLater()).toBe(false);
  });

  it('is read again when the locks since then may have used it up', async () => {
    const { allowsLock, count, state } = createScene({ lamports: RESERVE + 5_000_000 });
    expect(await allowsLock()).toBe(true);
    const sent = Promise.withResolvers<void>();
    const counted = [count(sent.promise), count(sent.promise)];
    // While they are in flight, no reading shows what they take.
    expect(await allowsLock()).toBe(false);
    sent.resolve();
    await Promise.all(counted);
    expect(await allowsLock()).toBe(true);
    state.lamports = RESERVE - 1;
    state.nowMs = 5_000;
    await until(async () => !(await allowsLock()));
  });

  it('allows locks again once it is funded', async () => {
    const { allowsLock, state } = createScene({ lamports: 0 });
    expect(await allowsLock()).toBe(false);
    state.lamports = SOL;
    expect(await allowsLock()).toBe(true);
  });

  it('stops nothing where other keys can pay, or no node answers', async () => {
    expect(await createScene({ lamports: 0, others: 1 }).allowsLock()).toBe(true);
    const { allowsLock, state } = createScene({ lamports: null });
    expect(await allowsLock()).toBe(true);
    state.lamports = 0;
    expect(await allowsLock()).toBe(false);
  });
});
