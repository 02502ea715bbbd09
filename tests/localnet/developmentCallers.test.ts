import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import WebSocket from 'ws';
import { type LocalnetScene, openLocalnet, type RpcAnswer } from './scene.ts';

let scene: LocalnetScene;
beforeAll(async () => {
  scene = await openLocalnet();
});
afterAll(() => scene.close());

const JSON_TYPE = { 'content-type': 'application/json' };
const skip = { jsonrpc: '2.0', id: 1, method: 'localnet_skipSlots', params: [1] };
const health = { jsonrpc: '2.0', id: 2, method: 'getHealth' };

async function post(headers: Record<string, string>, body: unknown = skip): Promise<unknown> {
  const sent = request(scene.rpcUrl, { method: 'POST', headers });
  sent.end(JSON.stringify(body));
  const [response] = await once(sent, 'response');
  return JSON.parse(await text(response));
}

async function askBySocket(headers: Record<string, string>): Promise<unknown> {
  const client = new WebSocket(scene.wsUrl, { headers });
  await once(client, 'open');
  client.send(JSON.stringify([skip, health]));
  const [answer] = await once(client, 'message');
  client.terminate();
  return JSON.parse(String(answer));
}

const refused = (words: string): RpcAnswer => ({
  error: { code: -32600, message: expect.stringContaining(words) as unknown as string },
});
const answered = { result: expect.any(Number) };
const healthy = { id: 2, result: 'ok' };

const OWN: [string, Record<string, string>][] = [
  ['what sends no origin', {}],
  ['a page at localhost', { origin: 'http://localhost:8080' }],
  ['a page below localhost', { origin: 'https://app.localhost' }],
  ['a page at a loopback address', { origin: 'http://127.0.0.1:8080' }],
  ['a page at the loopback address of IPv6', { origin: 'http://[::1]:8080' }],
  ['what knows the ledger by its address', { host: '192.168.1.9:8899' }],
  ['what knows the ledger by a short name', { host: 'ledger:8899' }],
  ['what knows the ledger by a reserved name', { host: 'host.docker.internal:8899' }],
];
const PAGES = 'is for pages of this machine alone';
const NAMES = 'is asked for at an address or a name of this network alone';
const FOREIGN: [string, Record<string, string>, string][] = [
  ['a page elsewhere', { origin: 'https://page.example' }, PAGES],
  ['a page without an origin of its own', { origin: 'null' }, PAGES],
  ['a page that begins like this machine', { origin: 'http://localhost.page.example' }, PAGES],
  ['a page that ends like this machine', { origin: 'http://notlocalhost' }, PAGES],
  ['a page at an address that begins alike', { origin: 'http://127.0.0.1.page.example' }, PAGES],
  [
    'a page whose name was made to lead here',
    { origin: 'http://page.example:8899', host: 'page.example:8899' },
    PAGES,
  ],
  ['the same without an origin', { host: 'page.example:8899' }, NAMES],
  ['the same by a name that ends in a dot', { host: 'page.example.:8899' }, NAMES],
];

describe('a development method', () => {
  it.each(OWN)('is answered to %s', async (_who, headers) => {
    expect(await post({ ...JSON_TYPE, ...headers })).toMatchObject(answered);
    expect(await askBySocket(headers)).toMatchObject([answered, healthy]);
  });

  it.each(FOREIGN)(
    'is refused to %s, and what nodes have is answered',
    async (_who, given, words) => {
      const headers = { ...JSON_TYPE, ...given };
      expect(await post(headers)).toMatchObject(refused(words));
      expect(await post(headers, [skip, health])).toMatchObject([refused(words), healthy]);
      expect(await askBySocket(given)).toMatchObject([refused(words), healthy]);
    },
  );

  it.each([
    ['no type', {}],
    ['text, which pages send without asking', { 'content-type': 'text/plain' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['text that names JSON', { 'content-type': 'text/plain; application/json' }],
  ])('is refused as %s', async (_type, headers) => {
    const words = 'needs the header Content-Type: application/json';
    expect(await post(headers as Record<string, string>)).toMatchObject(refused(words));
    expect(await post(headers as Record<string, string>, health)).toMatchObject(healthy);
  });
});
