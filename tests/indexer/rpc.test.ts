import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { RetryableError } from '../../indexer/errors.ts';
import { createRpc } from '../../indexer/source/rpc.ts';

/** What the node does with a request. */
let mood: 'answers' | 'is silent' | 'stops in mid-answer' = 'answers';
let node: Server;
let url: string;

beforeAll(async () => {
  node = createServer((_request, response) => {
    if (mood === 'is silent') return;
    response.writeHead(200, { 'content-type': 'application/json' });
    if (mood === 'stops in mid-answer') response.write('{"result": ');
    else response.end('{"result": 42}');
  }).listen(0, '127.0.0.1');
  await once(node, 'listening');
  url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
});

afterEach(() => {
  jest.restoreAllMocks();
});

afterAll(() => {
  node.closeAllConnections();
  node.close();
});

/** Takes the place of the clock behind the time-outs that are asked for. */
function holdTimeouts() {
  const timeout = new AbortController();
  const asked: number[] = [];
  jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    asked.push(ms);
    return timeout.signal;
  });
  return { asked, expire: () => timeout.abort(new DOMException('too late', 'TimeoutError')) };
}

describe('a question to a node', () => {
  it('is answered', async () => {
    expect(await createRpc(url)('getSlot', [])).toBe(42);
  });

  for (const fault of ['is silent', 'stops in mid-answer'] as const) {
    it(`is given up after ten seconds when the node ${fault}, and may be asked again`, async () => {
      const { asked, expire } = holdTimeouts();
      const reached = once(node, 'request');
      mood = fault;
      const answer = createRpc(url)('getSlot', []);
      await reached;
      expire();
      await expect(answer).rejects.toThrow(RetryableError);
      expect(asked).toEqual([10_000]);
      jest.restoreAllMocks();
      mood = 'answers';
      expect(await createRpc(url)('getSlot', [])).toBe(42);
    });
  }
});
