import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createHeliusFee } from '../../common/heliusFee.ts';
import { createLogger } from '../../common/logger.ts';
import { connectRpc } from '../../programs/client/rpc/connectRpc.ts';
import { createPriorityFee } from '../../programs/client/sender/priorityFee.ts';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A JSON-RPC endpoint that answers every call with `result`, or not at all. */
async function startEndpoint(result: unknown) {
  const asked: { method: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const { id, method } = JSON.parse(body);
      asked.push({ method });
      response.statusCode = result === undefined ? 500 : 200;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

function createFee(url: string, heliusApiKey?: string) {
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
    const { url } = await startEndpoint(paid);
    await untilFee(createFee(url).fee, 5);
  });

  it('is Helius’s estimate, rounded up, when a key is set', async () => {
    const { url, asked } = await startEndpoint({ priorityFeeEstimate: 1_234.5 });
    await untilFee(createFee(url, 'a key').fee, 1_235);
    expect(asked).toEqual([{ method: 'getPriorityFeeEstimate' }]);
  });

  it('is capped, at any estimate', async () => {
    const { url } = await startEndpoint({ priorityFeeEstimate: 1e12 });
    await untilFee(createFee(url, 'a key').fee, 1_000_000);
  });

  it.each([
    ['the node does not answer', undefined],
    ['the estimate is below zero', { priorityFeeEstimate: -1 }],
    ['the estimate is no number', { priorityFeeEstimate: 'much' }],
  ])('stays unchanged and is logged when %s', async (_case, result) => {
    const { url } = await startEndpoint(result);
    const { fee, warnings } = createFee(url, 'a private key');
    expect(await fee()).toBe(0);
    while (warnings.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(warnings.join()).toContain('Failed to read the priority fee');
    expect(warnings.join()).not.toContain('a private key');
    expect(await fee()).toBe(0);
  });

  it('is requested once in ten seconds, and never waited for', async () => {
    const { url, asked } = await startEndpoint({ priorityFeeEstimate: 7 });
    const { fee, advanceMs } = createFee(url, 'a key');
    expect(await fee()).toBe(0);
    await untilFee(fee, 7);
    advanceMs(9_999);
    await fee();
    expect(asked).toHaveLength(1);
    advanceMs(1);
    await fee();
    while (asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
  });
});
