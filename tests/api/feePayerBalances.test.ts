import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { Registry } from 'prom-client';
import { observeFeePayers } from '../../api/telemetry/gauges.ts';
import { createRpc } from '../../programs/client/rpc/rpc.ts';

const READ_INTERVAL_MS = 60_000;
/** A node that takes longer counts as silent. */
const ANSWER_MS_MAX = 10_000;

describe('the balances of the fee payers', () => {
  const feePayer = Keypair.generate().publicKey;
  let registry: Registry;
  let getBalance: () => Promise<number>;
  let balances: ReturnType<typeof observeFeePayers>;

  beforeEach(() => {
    jest.useFakeTimers();
    registry = new Registry();
    getBalance = async () => 5;
    const rpc = createRpc({
      async post() {
        const result = { context: { slot: 1 }, value: await getBalance() };
        return { status: 200, text: JSON.stringify({ result }) };
      },
    });
    balances = observeFeePayers(registry, { rpc, feePayers: [feePayer] });
  });

  afterEach(() => {
    balances.close();
    jest.useRealTimers();
  });

  const readBalance = async () =>
    (await registry.metrics()).match(/^svc_api_fee_payer_lamports\{.*$/m)?.[0];

  it('are not exported while the node is silent, and return when it answers', async () => {
    await jest.advanceTimersByTimeAsync(0);
    const first = `svc_api_fee_payer_lamports{address="${feePayer}"} 5`;
    expect(await readBalance()).toBe(first);

    const { promise: never } = Promise.withResolvers<number>();
    getBalance = () => never;
    await jest.advanceTimersByTimeAsync(READ_INTERVAL_MS + ANSWER_MS_MAX);
    expect(await readBalance()).toBeUndefined();

    getBalance = async () => 5;
    await jest.advanceTimersByTimeAsync(READ_INTERVAL_MS);
    expect(await readBalance()).toBe(first);
  });
});
