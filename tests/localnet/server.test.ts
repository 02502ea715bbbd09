import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { findFreePort } from '../../stack/port.ts';
import { HELD_SLOT_MS, type LocalnetScene, openLocalnet, type RpcAnswer } from './scene.ts';

// What clusters answer, too, is compared with another ledger's answers: tests/localnet/contract.

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

const CONFIRMED = { commitment: 'confirmed' };
const somebody = () => Keypair.generate().publicKey;

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
    const response = await post('a'.repeat(10_000_000));
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({
      error: { message: 'Invalid request: the body has more than 2097152 bytes' },
    });
    expect((await answerTo(JSON.stringify(slotCall(1)))).result).toEqual(expect.any(Number));
  });

  it('is answered in the order of its batch, each call with its id', async () => {
    const calls = [slotCall('one'), { ...slotCall(2), method: 'no' }, slotCall(null), 5];
    const notification = slotCall(undefined);
    const answers = (await (await post(JSON.stringify([...calls, notification]))).json()) as {
      id: unknown;
    }[];
    expect(answers.map(({ id }) => id)).toEqual(['one', 2, null, null]);
    expect(answers[1]).toMatchObject({ error: { code: -32601 } });
    expect(answers[3]).toMatchObject({ error: { code: -32600 } });
    const response = await post(JSON.stringify([notification, notification]));
    expect([response.status, await response.text()]).toEqual([204, '']);
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

describe('occupied ports', () => {
  it('are named in the error, also that of the websocket', async () => {
    // Not one that the system gives away: the one before it has to be free.
    const port = await findFreePort();
    const taken = createServer().listen(port, '127.0.0.1');
    await once(taken, 'listening');
    await expect(openLocalnet({ port })).rejects.toThrow(`Port ${port} of 127.0.0.1 is taken`);
    await expect(openLocalnet({ port: port - 1 })).rejects.toThrow(`Port ${port} of 127.0.0.1 is`);
    taken.close();
  });
});

describe('the signatures of an address', () => {
  it('have their position in the block, also when one is read', async () => {
    const slow = await openLocalnet({ slotMs: HELD_SLOT_MS, confirmSlots: 1 });
    await slow.ask('localnet_skipSlots', 50);
    const to = somebody();
    const sent: string[] = [];
    for (const lamports of [5_000_000, 5_000_001]) sent.push(await slow.transfer(to, lamports));
    // It mentions another address, and has its position as well.
    await slow.transfer(somebody(), 5_000_000);
    sent.push(await slow.transfer(to, 5_000_002));
    await slow.ask('localnet_skipSlots', 10);
    const rows = await slow.ask<{ signature: string; transactionIndex: number }[]>(
      'getSignaturesForAddress',
      ...[to.toBase58(), CONFIRMED],
    );
    expect(rows.map(({ signature }) => signature)).toEqual(sent.toReversed());
    expect(rows.map(({ transactionIndex }) => transactionIndex)).toEqual([3, 1, 0]);
    for (const { signature, transactionIndex } of rows) {
      const shown = await slow.ask('getTransaction', signature, CONFIRMED);
      expect(shown).toHaveProperty('transactionIndex', transactionIndex);
    }
    await slow.close();
  });
});

describe('an amount', () => {
  it('above the range of a double is returned exactly, in every encoding', async () => {
    const to = somebody().toBase58();
    const signature = await scene.ask('requestAirdrop', to, 5_000_001);
    const read = async (encoding: string) => {
      const config = { ...CONFIRMED, encoding, maxSupportedTransactionVersion: 0 };
      const call = { jsonrpc: '2.0', id: 1, method: 'getTransaction', params: [signature, config] };
      const response = await post(JSON.stringify(call));
      return /"postBalances":\[(\d+)/.exec(await response.text())?.[1] ?? '';
    };
    const amount = await read('json');
    expect(BigInt(amount)).toBeGreaterThan(2n ** 53n);
    expect(await read('jsonParsed')).toBe(amount);
  });
});

describe('a block', () => {
  it('links to the one before when its slot is empty', async () => {
    await scene.ask('localnet_skipSlots', 3);
    const slot = (await scene.connection.getSlot('confirmed')) - 1;
    const [before, block] = await Promise.all(
      [slot - 1, slot].map((at) =>
        scene.ask<{ blockhash: string; previousBlockhash: string }>('getBlock', at, CONFIRMED),
      ),
    );
    expect(block?.previousBlockhash).toBe(before?.blockhash);
  });
});

describe('an invalid parameter', () => {
  const KEY = somebody().toBase58();
  it.each<[method: string, params: unknown, words: string]>([
    ['getAccountInfo', [], 'address: '],
    ['getAccountInfo', [KEY, { dataSlice: { offset: -1, length: 1 } }], 'config.dataSlice.offset'],
    ['getAccountInfo', [KEY, {}, 1], '3 given, of 2 at most'],
    ['getAccountInfo', { address: KEY }, 'by position'],
    ['getMultipleAccounts', [[KEY, 'x']], 'addresses.1: is no address'],
    ['getProgramAccounts', [KEY, { filters: Array(5).fill({ dataSize: 1 }) }], 'config.filters'],
    [
      'getProgramAccounts',
      [KEY, { filters: [{ memcmp: { offset: 0, bytes: '0' } }] }],
      'memcmp wants',
    ],
    ['getSignatureStatuses', [Array(257).fill('1')], 'signatures'],
    ['getSignatureStatuses', [[KEY]], 'signatures.0: is no signature: 64 bytes'],
    ['getSignaturesForAddress', [KEY, { limit: 1_001 }], 'config.limit: '],
    ['getTokenAccountsByOwner', [KEY, { mint: 'abc' }], 'whose.mint: is no address'],
    ['getMinimumBalanceForRentExemption', [1e9], 'bytes: '],
    ['getBlock', [-1], 'slot: '],
    ['requestAirdrop', [KEY, -1], 'lamports: '],
    ['getFeeForMessage', ['no base64!'], 'message: invalid base64'],
    ['isBlockhashValid', ['1'], 'blockhash: '],
    ['localnet_skipSlots', [-1], 'slots: '],
    ['sendTransaction', ['!', { encoding: 'base64' }], 'transaction: invalid base64 encoding'],
    ['sendTransaction', ['0', {}], 'transaction: invalid base58 encoding'],
    ['sendTransaction', ['A'.repeat(3_000)], 'transaction: too large'],
    ['getTokenAccountsByOwner', [KEY, { programId: KEY }], 'unrecognized Token program id'],
    ['getTokenAccountsByOwner', [KEY, { mint: KEY }], 'could not find mint'],
    ['getTokenSupply', [KEY], 'it is no mint'],
    ['getSlotLeaders', [0, 5_001], 'limit: '],
    ['localnet_setAccount', [KEY, { data: '*' }], 'fields.data: '],
  ])('is refused with its name and the reason: %s %j', async (method, params, words) => {
    const { error } = await answerTo(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(words) });
  });
});
