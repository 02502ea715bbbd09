import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { Registry } from 'prom-client';
import { createFloat } from '../../api/ledger/float.ts';
import { observeFeePayers } from '../../api/telemetry/gauges.ts';
import { createRpc } from '../../programs/client/rpc/rpc.ts';
import { until } from '../../testing/until.ts';

const SOL = 1_000_000_000;
const RESERVE = 50_000_000;

/** A node that reports this balance. */
const nodeOf = (balance: () => Promise<number>) =>
  createRpc({
    async post() {
      const result = { context: { slot: 1 }, value: await balance() };
      return { status: 200, text: JSON.stringify({ result }) };
    },
  });

/** A float whose node reports this balance; null: the node does not answer. */
function createScene({ lamports = SOL as number | null, others = 0 } = {}) {
  const state = { lamports, nowMs: 0, readings: 0 };
  const rpc = nodeOf(async () => {
    state.readings += 1;
    if (state.lamports === null) throw new Error('connect ECONNREFUSED');
    return state.lamports;
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

describe('the balances of the fee payers', () => {
  const READ_INTERVAL_MS = 60_000;
  /** A node that takes longer counts as silent. */
  const ANSWER_MS_MAX = 10_000;
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('are not exported while the node is silent, and return when it answers', async () => {
    const answering = async () => 5;
    let balance: () => Promise<number> = answering;
    const feePayer = Keypair.generate().publicKey;
    const registry = new Registry();
    const balances = observeFeePayers(registry, {
      ...{ rpc: nodeOf(() => balance()), feePayers: [feePayer] },
    });
    const exported = async (afterMs: number) => {
      await jest.advanceTimersByTimeAsync(afterMs);
      return (await registry.metrics()).match(/^svc_api_fee_payer_lamports\{.*$/m)?.[0];
    };
    const shown = `svc_api_fee_payer_lamports{address="${feePayer}"} 5`;
    expect(await exported(0)).toBe(shown);
    balance = () => new Promise(() => undefined);
    expect(await exported(READ_INTERVAL_MS + ANSWER_MS_MAX)).toBeUndefined();
    balance = answering;
    expect(await exported(READ_INTERVAL_MS)).toBe(shown);
    balances.close();
  });
});
