import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createHeliusFee } from '../../common/heliusFee.ts';
import { createLogger } from '../../common/logger.ts';
import { connectRpc } from '../../programs/client/rpc/rpc.ts';
import { createPriorityFee } from '../../programs/client/sender/priorityFee.ts';
import { type Asked, type RpcNode, startRpcNode } from './rpcNode.ts';

let node: RpcNode;
beforeEach(async () => {
  node = await startRpcNode();
});
afterEach(() => node.close());

/** Answers every call with `result`, or not at all. */
function answerWith(result: unknown): void {
  node.says = (asked) =>
    result === undefined
      ? { status: 500, body: '' }
      : { body: JSON.stringify({ jsonrpc: '2.0', id: (asked as Asked).id, result }) };
}

function createFee(heliusApiKey?: string) {
  const { url } = node;
  let nowMs = 0;
  const warnings: string[] = [];
  const into = { write: (line: string) => void warnings.push(line) };
  const fee = createPriorityFee({
    rpc: connectRpc({ url }),
    writableAccounts: [Keypair.generate().publicKey],
    estimate: createHeliusFee(heliusApiKey, url),
    logger: createLogger({ name: 'test', level: 'warn', into }),
    nowMs: () => nowMs,
  });
  return { fee, warnings, advanceMs: (ms: number) => (nowMs += ms) };
}

/** The first answer starts the question; its result is seen once it has arrived. */
async function untilFee(fee: () => Promise<number>, wanted: number): Promise<void> {
  for (let found = await fee(); found !== wanted; found = await fee()) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('the priority fee', () => {
  it('is the upper quartile of recent fees', async () => {
    const paid = [5, 1, 3, 2].map((prioritizationFee, slot) => ({ slot, prioritizationFee }));
    answerWith(paid);
    await untilFee(createFee().fee, 5);
  });

  it.each([
    ['rounded up', 1_234.5, 1_235],
    ['capped', 1e12, 1_000_000],
  ])('is Helius’s estimate, %s, when a key is set', async (_how, priorityFeeEstimate, fee) => {
    answerWith({ priorityFeeEstimate });
    await untilFee(createFee('a key').fee, fee);
    expect(node.requests).toMatchObject([{ method: 'getPriorityFeeEstimate' }]);
  });

  it.each([
    ['the node does not answer', undefined],
    ['the estimate is below zero', { priorityFeeEstimate: -1 }],
    ['the estimate is no number', { priorityFeeEstimate: 'much' }],
  ])('stays unchanged and is logged when %s', async (_case, result) => {
    answerWith(result);
    const { fee, warnings } = createFee('a private key');
    expect(await fee()).toBe(0);
    while (warnings.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(warnings.join()).toContain('Failed to read the priority fee');
    expect(warnings.join()).not.toContain('a private key');
    expect(await fee()).toBe(0);
  });

  it('is requested once in ten seconds, and never waited for', async () => {
    answerWith({ priorityFeeEstimate: 7 });
    const { fee, advanceMs } = createFee('a key');
    expect(await fee()).toBe(0);
    await untilFee(fee, 7);
    advanceMs(9_999);
    await fee();
    expect(node.requests).toHaveLength(1);
    advanceMs(1);
    await fee();
    while (node.requests.length < 2) await new Promise((resolve) => setImmediate(resolve));
  });
});
