import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { FatalError, NodeBehindError, RetryableError } from '../../indexer/source/errors.ts';
import { connectNode } from '../../indexer/source/node.ts';
import { getSlot, getTransaction } from '../../programs/client/rpc/methods.ts';

/** What the node does with a request. */
let mood: 'answers' | 'is silent' | 'stops in mid-answer' = 'answers';
let answer = { status: 200, body: '{"result": 42}' };
let node: Server;
let url: string;

beforeAll(async () => {
  node = createServer((_request, response) => {
    if (mood === 'is silent') return;
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    if (mood === 'stops in mid-answer') response.write('{"result": ');
    else response.end(answer.body);
  }).listen(0, '127.0.0.1');
  await once(node, 'listening');
  url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
});

afterEach(() => {
  jest.useRealTimers();
  answer = { status: 200, body: '{"result": 42}' };
});

afterAll(() => {
  node.closeAllConnections();
  node.close();
});

const askSlot = (asked = connectNode({ url })) => getSlot(asked, { commitment: 'confirmed' });

/** Time stands still until it is advanced; answers come as ever. */
function holdTimeouts(): void {
  jest.useFakeTimers({
    doNotFake: ['Date', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'setInterval'],
  });
}

describe('a request to a node', () => {
  it('returns the answer', async () => {
    expect(await askSlot()).toBe(42);
  });

  for (const fault of ['is silent', 'stops in mid-answer'] as const) {
    it(`fails after ten seconds with a retryable error when the node ${fault}`, async () => {
      holdTimeouts();
      const reached = once(node, 'request');
      mood = fault;
      const answered = askSlot();
      await reached;
      const given = new AbortController();
      const ended = answered.finally(() => given.abort());
      jest.advanceTimersByTime(9_999);
      await new Promise((resolve) => setImmediate(resolve));
      expect(given.signal.aborted).toBe(false);
      jest.advanceTimersByTime(1);
      await expect(ended).rejects.toThrow(RetryableError);
      jest.useRealTimers();
      mood = 'answers';
      expect(await askSlot()).toBe(42);
    });
  }

  it('ends when the process ends, and later requests fail', async () => {
    const ending = new AbortController();
    const reached = once(node, 'request');
    mood = 'is silent';
    const ended = connectNode({ url, ending: ending.signal });
    const answered = askSlot(ended);
    await reached;
    ending.abort();
    await expect(answered).rejects.toThrow(RetryableError);
    mood = 'answers';
    await expect(askSlot(ended)).rejects.toThrow(RetryableError);
  });

  it.each([400, 401, 402, 403, 404, 408, 413, 429, 500, 502, 503])(
    'can be retried after status %i from the node or a proxy',
    async (status) => {
      answer = { status, body: '<html>Sorry</html>' };
      const refused = askSlot();
      await expect(refused).rejects.toThrow(RetryableError);
      await expect(refused).rejects.toThrow(`answered getSlot with status ${status}`);
    },
  );

  it.each([
    ['a page of HTML', '<html>Back soon</html>'],
    ['nothing', ''],
    ['half of an answer', '{"result": '],
    ['JSON of another form', '{"message": "no upstream"}'],
    ['a list', '[]'],
    ['null', 'null'],
    ['an error in words', '{"error": "try later"}'],
    ['an error without a code', '{"error": {"message": "try later"}}'],
  ])('can be retried when the answer is %s', async (_name, body) => {
    answer = { status: 200, body };
    await expect(askSlot()).rejects.toThrow(RetryableError);
  });

  it.each([
    -32000, -32004, -32005, -32011, -32014, -32016, -32019, -32600, -32603, -32700, 403, 429,
  ])('can be retried when the node refuses it with the code %i', async (code) => {
    answer = { status: 200, body: JSON.stringify({ error: { code, message: 'not now' } }) };
    const refused = askSlot();
    await expect(refused).rejects.toThrow(RetryableError);
    await expect(refused).rejects.toThrow(`refused getSlot: not now (${code})`);
  });

  it('reports a node that has not reached a slot as behind', async () => {
    const error = { code: -32016, message: 'Minimum context slot has not been reached' };
    answer = { status: 200, body: JSON.stringify({ error }) };
    await expect(askSlot()).rejects.toThrow(NodeBehindError);
  });

  it.each([
    [-32601, 200],
    [-32602, 200],
    [-32601, 404],
    [-32602, 400],
  ])(
    'is not retried when the node does not understand it (%i, status %i)',
    async (code, status) => {
      answer = { status, body: JSON.stringify({ error: { code, message: 'what?' } }) };
      await expect(askSlot()).rejects.toThrow(FatalError);
    },
  );

  it('may return null', async () => {
    answer = { status: 200, body: '{"result": null, "error": null}' };
    const asked = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;
    expect(await getTransaction(connectNode({ url }), 'a signature', asked)).toBeNull();
  });
});
