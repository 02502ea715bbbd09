import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import express from 'express';
import { ApiError } from '../../api/contracts/errors.ts';
import { createDelivery, type Delivery } from '../../api/response/delivery.ts';

const settlement = {
  ...{ settlementTx: 'tx', creditsRemaining: 7 },
  ...{ outputHash: 'sha256:00', deliveryReceipt: 'receipt' },
};
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
let server: Server;

afterEach(async () => {
  server.close();
  await once(server, 'close');
});

/** The bytes of a stream that is delivered so, as they are on the wire. */
async function wireOf(deliver: (delivery: Delivery) => unknown): Promise<string> {
  const app = express().get('/', async (_request, response) => {
    const identity = { jobId: 'job_1', modelId: 'model', created: 1 };
    const form = { isStream: true, includeUsage: false, publicUrl: 'http://localhost' };
    const delivery = createDelivery({ response, identity, ...form });
    delivery.begin({ address: 'worker', engine: null });
    await deliver(delivery);
  });
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  return text(socket);
}

/** The texts of the chunks of a body in HTTP's own framing. */
function chunksOf(wire: string): string[] {
  const body = wire.slice(wire.indexOf('\r\n\r\n') + 4);
  return [...body.matchAll(/([0-9a-f]+)\r\n((?:data|:)[^\r]*)\r\n/g)].map(
    ([, , chunk]) => chunk ?? '',
  );
}

const contentsOf = (chunk: string) =>
  [...chunk.matchAll(/"content":"(.*?)"/g)].map(([, content]) => content);

describe('a stream', () => {
  it('sends the text of one event-loop turn as one chunk', async () => {
    const wire = await wireOf(async (delivery) => {
      for (const word of ['a', 'b']) delivery.write({ type: 'content', text: word });
      await new Promise((resolve) => setTimeout(resolve, 10));
      delivery.write({ type: 'content', text: 'c' });
      delivery.finish({ finishReason: 'stop', isTruncated: false, usage });
      delivery.settled(settlement);
    });
    const chunks = chunksOf(wire);
    expect(chunks.map(contentsOf)).toEqual([['', 'a', 'b'], ['c']]);
    expect(chunks.at(-1)).toMatch(/data: \[DONE\]\n\n$/);
    expect(wire).toMatch(/\r\nx-svc-settlement-tx: tx\r\n/i);
  });

  it('sends the text that comes together with an error, then the error', async () => {
    const wire = await wireOf((delivery) => {
      delivery.write({ type: 'content', text: 'a' });
      delivery.fail(new ApiError('worker_failed', 'It failed.'));
    });
    expect(wire).toMatch(/^HTTP\/1.1 200 /);
    expect(chunksOf(wire).flatMap(contentsOf)).toEqual(['', 'a']);
    expect(chunksOf(wire).at(-1)).toMatch(/"code":"worker_failed".*\n\n$/s);
  });
});

/** Whether an answer counts as whole whose client leaves when `leave` says so, or reads to its end. */
async function isWhole(options: {
  isStream: boolean;
  text: string;
  leave?: 'before its end' | 'without reading';
  fails?: boolean;
}): Promise<boolean> {
  const { isStream, text: content, leave, fails } = options;
  const left = Promise.withResolvers<void>();
  const over = Promise.withResolvers<boolean>();
  let whole = false;
  const app = express().get('/', async (_request, response) => {
    response.once('close', () => {
      left.resolve();
      over.resolve(whole);
    });
    const identity = { jobId: 'job_1', modelId: 'model', created: 1 };
    const delivery = createDelivery({
      ...{ response, identity, isStream, includeUsage: false, publicUrl: 'http://localhost' },
      onWhole() {
        whole = true;
      },
    });
    delivery.begin({ address: 'worker', engine: null });
    delivery.write({ type: 'content', text: content });
    if (leave === 'before its end') {
      socket.resetAndDestroy();
      await left.promise;
    }
    if (fails) return delivery.fail(new ApiError('worker_failed', 'It failed.'));
    delivery.finish({ finishReason: 'stop', isTruncated: false, usage });
    delivery.settled(settlement);
    if (leave === 'without reading') socket.resetAndDestroy();
  });
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  if (leave === 'without reading') socket.pause();
  else socket.resume();
  return over.promise;
}

describe.each([
  ['a plain answer', false],
  ['a stream', true],
])('%s', (_form, isStream) => {
  // More than the buffers of both systems hold.
  const long = 'a long text '.repeat(2_000_000);

  it.each([
    ['that is read to its end', { text: 'Hello.' }, true],
    ['that is long and is read to its end', { text: long }, true],
    ['whose client left before its end', { text: 'Hello.', leave: 'before its end' }, false],
    ['whose client left without reading it', { text: long, leave: 'without reading' }, false],
    ['that ends with an error', { text: 'Hello.', fails: true }, false],
  ] as const)('%s is whole: %s', async (_how, how, expected) => {
    expect(await isWhole({ isStream, ...how })).toBe(expected);
  });
});
