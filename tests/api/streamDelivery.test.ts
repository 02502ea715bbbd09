import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import express, { type Response } from 'express';
import { ApiError } from '../../api/contracts/errors.ts';
import { createChatFormat } from '../../api/response/chatFormat.ts';
import { abortWhenLeft, createDelivery, type Delivery } from '../../api/response/delivery.ts';
import { USAGE } from './keptCopy.ts';

const settlement = { settlementTx: 'tx', creditsRemaining: 7 };
const proof = {
  ...{ worker: 'worker', attempt: 2 },
  ...{ outputHash: 'sha256:00', deliveryReceipt: 'receipt' },
  ...{ requestCommitment: 'aa'.repeat(32), answerDetails: 'bb'.repeat(32) },
};
const result = {
  ...{ finishReason: 'stop' as const, isTruncated: false, completedAt: 2, usage: USAGE },
  ...{ creditsCharged: 8, proof },
};
const identity = {
  ...{ jobId: 'job_1', wallet: 'wallet', modelId: 'model', created: 1 },
  ...{ escrowTx: 'lock', requestSalt: 'ab' },
};
/** What an answer with this result says of itself. */
const evidence = {
  job_id: 'job_1',
  worker: 'worker',
  attempt: 2,
  credits_charged: 8,
  usdc_value: 0.08,
  output_hash: 'sha256:00',
  request_salt: 'ab',
  delivery_receipt: 'receipt',
  escrow_tx: 'lock',
  settlement_tx: null,
  verify_url: 'http://localhost/verify/job_1#wallet=wallet',
};
let server: Server;

afterEach(async () => {
  server.close();
  await once(server, 'close');
});

/** A client's connection, on which it has sent a request that is answered so. */
async function ask(answer: (response: Response) => unknown): Promise<Socket> {
  const app = express().get('/', async (_request, response) => void (await answer(response)));
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
  return socket;
}

const format = createChatFormat({ includeUsage: false });
const form = { identity, format, publicUrl: 'http://localhost' };

/** The bytes of a stream that is delivered so, as they are on the wire. */
async function wireOf(deliver: (delivery: Delivery) => unknown): Promise<string> {
  const socket = await ask(async (response) => {
    const delivery = createDelivery({ response, isStream: true, ...form });
    delivery.begin({ address: 'worker', engine: null });
    await deliver(delivery);
  });
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
      delivery.finish(result);
      delivery.settled(settlement);
    });
    const chunks = chunksOf(wire);
    expect(chunks.map(contentsOf)).toEqual([['', 'a', 'b'], ['c']]);
    expect(chunks.at(-1)).toMatch(/data: \[DONE\]\n\n$/);
    expect(wire).toMatch(/\r\nx-svc-settlement-tx: tx\r\n/i);
  });

  it('sends a call’s name first, then its arguments, each apart', async () => {
    const whole = { id: 'c1', name: 'f', text: '{}' };
    const wire = await wireOf((delivery) => {
      delivery.write({ type: 'call', index: 0, id: 'c0', name: 'f', text: '' });
      delivery.write({ type: 'call', index: 0, text: '{"a"' });
      delivery.write({ type: 'call', index: 1, ...whole });
      delivery.finish({ ...result, finishReason: 'tool_calls' });
      delivery.settled(settlement);
    });
    const data = dataOf(wire).slice(0, -1);
    const sent = data.map(({ choices: [choice] }) => choice) as {
      delta: { tool_calls?: object[] };
      finish_reason: string | null;
    }[];
    const first = (index: number) => ({
      ...{ index, id: `c${index}`, type: 'function', function: { name: 'f', arguments: '' } },
    });
    const next = (index: number, text: string) => ({ index, function: { arguments: text } });
    expect(sent.map(({ delta }) => delta.tool_calls)).toEqual([
      ...[undefined, [first(0)], [next(0, '{"a"')], [first(1)], [next(1, '{}')], undefined],
    ]);
    expect(sent.at(-1)?.finish_reason).toBe('tool_calls');
  });

  it('sends the text that comes together with an error, then the error', async () => {
    const wire = await wireOf((delivery) => {
      delivery.write({ type: 'content', text: 'a' });
      delivery.fail(new ApiError('worker_failed', 'It failed.'));
    });
    expect(wire).toMatch(/^HTTP\/1.1 200 /);
    expect(chunksOf(wire).flatMap(contentsOf)).toEqual(['', 'a']);
    const failure = dataOf(wire).at(-1);
    expect(failure).toMatchObject({ error: { code: 'worker_failed' } });
    const { job_id, verify_url } = evidence;
    expect(failure).toMatchObject({ svc: { job_id, verify_url } });
  });

  it('carries its evidence in the finish chunk, the last before its end', async () => {
    const wire = await wireOf((delivery) => {
      delivery.write({ type: 'content', text: 'a' });
      delivery.finish(result);
      delivery.settled(settlement);
    });
    const data = dataOf(wire);
    expect(data.at(-2)).toMatchObject({ choices: [{ finish_reason: 'stop' }], svc: evidence });
    expect(data.at(-1)).toBe('[DONE]');
    expect(data.filter((event) => event.svc !== undefined)).toHaveLength(1);
    expect(wire).toContain(`\r\nlink: <${evidence.verify_url}>; rel="describedby"\r\n`);
  });
});

/** The events of a stream, in their order. */
const dataOf = (wire: string) =>
  [...wire.matchAll(/data: (.*)\n\n/g)].map(([, data = '']) =>
    data === '[DONE]' ? data : JSON.parse(data),
  );

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
  const socket = await ask(async (response) => {
    response.once('close', () => {
      left.resolve();
      over.resolve(whole);
    });
    const onWhole = () => {
      whole = true;
    };
    const delivery = createDelivery({ response, isStream, onWhole, ...form });
    delivery.begin({ address: 'worker', engine: null });
    delivery.write({ type: 'content', text: content });
    if (leave === 'before its end') {
      socket.resetAndDestroy();
      await left.promise;
    }
    if (fails) return delivery.fail(new ApiError('worker_failed', 'It failed.'));
    delivery.finish(result);
    delivery.settled(settlement);
    if (leave === 'without reading') socket.resetAndDestroy();
  });
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

it('a client that disconnected before its request was handled is noticed', async () => {
  const gone = Promise.withResolvers<boolean>();
  const socket = await ask((response) => {
    response.once('close', () => gone.resolve(abortWhenLeft(response).aborted));
    socket.resetAndDestroy();
  });
  expect(await gone.promise).toBe(true);
});
