import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LocalnetScene, openLocalnet, type RpcAnswer } from './scene.ts';

let scene: LocalnetScene;
beforeAll(async () => {
  scene = await openLocalnet();
});
afterAll(() => scene.close());

const post = (body: string) =>
  fetch(scene.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });

const slotCall = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'getSlot' });
const answerTo = async (body: string) => (await (await post(body)).json()) as RpcAnswer;

describe('a request body', () => {
  it.each([
    ['that is no JSON', '{"jsonrpc":', -32700, 'no JSON'],
    ['that is nested beyond reason', '['.repeat(500_000), -32700, 'no JSON'],
    ['that is no call', '7', -32600, 'no call of JSON-RPC 2.0'],
    ['that is null', 'null', -32600, 'no call of JSON-RPC 2.0'],
    ['of another version', '{"id":1,"method":"getSlot"}', -32600, 'no call of JSON-RPC 2.0'],
    ['with an object for its id', JSON.stringify(slotCall({})), -32600, 'an id is a number'],
    ['with an empty batch', '[]', -32600, 'an empty batch'],
    [
      'with 10,000 calls',
      JSON.stringify(Array.from({ length: 10_000 }, (_, id) => slotCall(id))),
      -32600,
      'a batch has at most 1000 calls, not 10000',
    ],
    [
      'with an unknown method',
      '{"jsonrpc":"2.0","id":1,"method":"getSlots"}',
      -32601,
      'Method not found: getSlots',
    ],
    [
      'with a method of every object',
      '{"jsonrpc":"2.0","id":1,"method":"constructor"}',
      -32601,
      'Method not found: constructor',
    ],
  ])('%s is refused with the reason', async (_what, body, code, words) => {
    const { error } = await answerTo(body);
    expect(error).toMatchObject({ code, message: expect.stringContaining(words) });
  });

  it('is refused at 10 MB, and the ledger continues', async () => {
    const body = JSON.stringify({ ...slotCall(1), params: ['a'.repeat(10_000_000)] });
    const response = await post(body);
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({
      error: { message: 'Invalid request: the body has more than 2097152 bytes' },
    });
    expect((await answerTo(JSON.stringify(slotCall(1)))).result).toEqual(expect.any(Number));
  });

  it('is answered in the order of its batch, each call with its id', async () => {
    const calls = [slotCall('one'), { ...slotCall(2), method: 'no' }, slotCall(null), 5];
    const answers = (await (await post(JSON.stringify(calls))).json()) as { id: unknown }[];
    expect(answers.map(({ id }) => id)).toEqual(['one', 2, null, null]);
    expect(answers[1]).toMatchObject({ error: { code: -32601 } });
    expect(answers[3]).toMatchObject({ error: { code: -32600 } });
  });

  it('gets an empty answer for notifications alone', async () => {
    const response = await post(JSON.stringify([slotCall(undefined), slotCall(undefined)]));
    expect(response.status).toBe(204);
    expect(await response.text()).toBe('');
  });

  it('does no harm when its sender aborts it', async () => {
    const { port, hostname } = new URL(scene.rpcUrl);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write('POST / HTTP/1.1\r\nhost: ledger\r\ncontent-length: 1000\r\n\r\n{"json');
    await answerTo(JSON.stringify(slotCall(1)));
    socket.destroy();
    await once(socket, 'close');
    expect((await answerTo(JSON.stringify(slotCall(1)))).result).toEqual(expect.any(Number));
  });
});

describe('a browser', () => {
  it('may call from any origin, with the headers that it names', async () => {
    const preflight = await fetch(scene.rpcUrl, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://wallet.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,solana-client',
      },
    });
    expect(preflight.status).toBe(204);
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': expect.stringContaining('POST'),
      'access-control-allow-headers': 'content-type,solana-client',
    });
    const answer = await post(JSON.stringify(slotCall(1)));
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  });

  it('gets a plain answer to GET', async () => {
    expect((await fetch(scene.rpcUrl)).status).toBe(405);
    expect(await (await fetch(`${scene.rpcUrl}/health`)).text()).toBe('ok');
  });
});

describe('the development methods', () => {
  it('are refused on a ledger without the option', async () => {
    const plain = await openLocalnet({ isDevelopment: false });
    const names = ['setAccount', 'setClock', 'skipSlots', 'advanceTime', 'fund', 'mintTokens'];
    const errors = await Promise.all(
      names.map(async (name) => (await plain.call(`localnet_${name}`)).error),
    );
    await plain.close();
    expect(errors).toEqual(
      names.map((name) => ({
        code: -32601,
        message: expect.stringContaining(
          `localnet_${name} is refused: this ledger was not started for development`,
        ),
      })),
    );
  });

  it.each([
    ['an invalid Clock', 'SysvarC1ock11111111111111111111111111111111', {}],
    ['an invalid program', 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', { executable: true }],
  ])('refuse %s, and the ledger continues', async (_what, address, fields) => {
    const data = Buffer.alloc(3).toString('base64');
    const { error } = await scene.call('localnet_setAccount', address, { data, ...fields });
    expect(error).toMatchObject({ code: -32602 });
    expect(await scene.transfer(scene.payer.publicKey, 1)).toEqual(expect.any(String));
  });
});
