import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { findFreePort } from '../../stack/port.ts';
import { type LocalnetScene, openLocalnet } from './scene.ts';

let scene: LocalnetScene;
beforeAll(async () => {
  scene = await openLocalnet();
});
afterAll(() => scene.close());

const somebody = () => Keypair.generate().publicKey;

async function post(body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(scene.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}

const call = (id: number, method: string, params: unknown[] = []) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

describe('a call to the ledger', () => {
  it('is refused for an unknown method', async () => {
    expect((await scene.call('getEverything')).error).toEqual({
      code: -32601,
      message: 'Method not found: getEverything',
    });
  });

  it.each([
    ['getBalance', ['unknown'], 'address: is no address: 32 bytes in base58'],
    ['getBalance', [], 'address: '],
    [
      'getBalance',
      [Keypair.generate().publicKey.toBase58(), { commitment: 'sure' }],
      'config.commitment: ',
    ],
    ['getSlot', [{}, {}], '2 given, of 1 at most'],
    ['getBlock', [-1], 'slot: '],
    ['getSignatureStatuses', [['short']], 'signatures.0: is no signature'],
  ])(
    'is refused for %s with bad parameters, by name and reason: %j',
    async (method, params, words) => {
      const { error } = await scene.call(method, ...(params as unknown[]));
      expect(error?.code).toBe(-32602);
      expect(error?.message).toContain(`Invalid params: ${words}`);
    },
  );

  it('is refused for a future context slot, with the current slot', async () => {
    const answer = await scene.call('getSlot', {
      commitment: 'confirmed',
      minContextSlot: 2 ** 40,
    });
    expect(answer.error).toMatchObject({
      code: -32016,
      data: { contextSlot: expect.any(Number) },
    });
  });

  it.each([
    ['what is no JSON', '{', -32700],
    ['what is no call', '{"id":null}', -32600],
    ['an empty batch', '[]', -32600],
    ['10,000 calls at once', JSON.stringify(Array(10_000).fill(call(1, 'getSlot'))), -32600],
  ])('is refused with %s, and the next one is answered', async (_what, body, code) => {
    expect(await (await post(body)).json()).toMatchObject({ error: { code }, id: null });
    expect(await scene.ask('getHealth')).toBe('ok');
  });

  it('is refused at 10 MB, and the next one is answered', async () => {
    const response = await post(JSON.stringify(call(1, 'getBalance', ['x'.repeat(10_000_000)])));
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ error: { code: -32600 }, id: null });
    expect(await scene.ask('getHealth')).toBe('ok');
  });

  it('is answered by its id in a batch, and a notification is not answered', async () => {
    const { id: _none, ...notification } = call(0, 'getSlot');
    const batch = [call(7, 'getHealth'), notification, call(9, 'getNothing')];
    expect(await (await post(JSON.stringify(batch))).json()).toEqual([
      { jsonrpc: '2.0', result: 'ok', id: 7 },
      { jsonrpc: '2.0', error: { code: -32601, message: 'Method not found: getNothing' }, id: 9 },
    ]);
  });

  it('is allowed from a page of another origin', async () => {
    const asked = { 'access-control-request-headers': 'content-type, solana-client' };
    const preflight = await fetch(scene.rpcUrl, { method: 'OPTIONS', headers: asked });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('solana-client');
    const answer = await post(JSON.stringify(call(1, 'getHealth')), {
      origin: 'https://page.example',
    });
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  });
});

describe('the development methods', () => {
  it('are refused on a ledger without the option', async () => {
    const plain = await openLocalnet({ isDevelopment: false });
    const { error } = await plain.call('localnet_fund', somebody().toBase58(), 1);
    expect(error).toEqual({
      code: -32601,
      message:
        'localnet_fund is refused: this ledger was not started for development (--development)',
    });
    await plain.close();
  });
});

describe('a subscription', () => {
  /** Everything that the ledger says to one websocket. */
  async function listen(method: string, params: unknown[]) {
    const socket = new WebSocket(scene.wsUrl);
    const messages: { method?: string; params?: { result: unknown } }[] = [];
    socket.onmessage = ({ data }) => void messages.push(JSON.parse(String(data)));
    await once(socket as never, 'open');
    socket.send(JSON.stringify(call(1, method, params)));
    const until = async (count: number) => {
      while (messages.length < count) await once(socket as never, 'message');
      return messages;
    };
    await until(1);
    return { until, close: () => socket.close() };
  }

  const CONFIRMED = { commitment: 'confirmed', encoding: 'base64' };

  it.each([
    ['account', (to: PublicKey) => [to.toBase58(), CONFIRMED], { value: { lamports: 5_000_000 } }],
    [
      'program',
      () => ['11111111111111111111111111111111', CONFIRMED],
      { value: { account: { owner: '11111111111111111111111111111111' } } },
    ],
    [
      'logs',
      (to: PublicKey) => [{ mentions: [to.toBase58()] }, CONFIRMED],
      { value: { err: null, logs: expect.any(Array) } },
    ],
  ])('notifies of a change to %s when it is confirmed', async (kind, params, expected) => {
    const to = somebody();
    const heard = await listen(`${kind}Subscribe`, params(to));
    await scene.transfer(to, 5_000_000);
    const [, message] = await heard.until(2);
    expect(message).toMatchObject({ method: `${kind}Notification`, params: { result: expected } });
    heard.close();
  });

  it('notifies once of a signature, even if it was confirmed before', async () => {
    const signature = await scene.transfer(somebody(), 5_000_000);
    const heard = await listen('signatureSubscribe', [signature, CONFIRMED]);
    const [, message] = await heard.until(2);
    expect(message).toMatchObject({ params: { result: { value: { err: null } } } });
    heard.close();
  });

  it('notifies of slots in their order', async () => {
    const heard = await listen('slotSubscribe', []);
    const messages = await heard.until(4);
    const slots = messages
      .slice(1)
      .map(({ params }) => (params as { result: { slot: number } }).result.slot);
    expect(slots).toEqual([...slots].sort((one, other) => one - other));
    heard.close();
  });
});

describe('occupied ports', () => {
  it('are named in the error', async () => {
    // Not one that the system gives away: the one before it has to be free.
    const port = await findFreePort();
    const taken = createServer().listen(port, '127.0.0.1');
    await once(taken, 'listening');
    await expect(openLocalnet({ port })).rejects.toThrow(`Port ${port} of 127.0.0.1 is taken`);
    await expect(openLocalnet({ port: port - 1 })).rejects.toThrow(`Port ${port} of 127.0.0.1 is`);
    taken.close();
  });
});
