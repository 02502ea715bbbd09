import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { deleteOldSessions } from '../../../indexer/background/expiredRows.ts';
import { createMovableTime } from '../../../testing/movableTime.ts';
import { until } from '../../../testing/until.ts';
import { insertAccount } from '../../api/keyedDatabase.ts';
import { type ConsoleScene, openConsoleScene, PUBLIC_URL, signIn } from './consoleScene.ts';

const LIMITS = { perWallet: 2, perAddress: 3, perProcess: 4 };
const TURN_MS = 1_000;
const time = createMovableTime();
let scene: ConsoleScene;
/** Of the streams that were opened. */
const ends: Promise<unknown>[] = [];

beforeAll(async () => {
  time.hold();
  scene = await openConsoleScene({ streams: { time, limits: LIMITS }, trustedProxyHops: 1 });
});

afterAll(() => scene.close());

afterEach(async () => {
  await scene.pool.query('delete from service.sessions');
  await Promise.all(ends.splice(0));
});

/** A wallet with an account, and its cookie. */
async function addWallet(): Promise<{ address: string; cookie: string }> {
  const wallet = Keypair.generate();
  const address = wallet.publicKey.toBase58();
  await insertAccount(scene.pool, { wallet: address, address: `account of ${address}` });
  return { address, cookie: await signIn(scene.call, wallet) };
}

/** Opens a stream. @param from the client's address, as the proxy reports it */
async function open(cookie: string, from = '203.0.113.1') {
  const request = http.request(`${scene.url}/console/api/webhooks/listen`, {
    method: 'POST',
    headers: {
      cookie,
      origin: PUBLIC_URL,
      'x-forwarded-for': from,
      'content-type': 'application/json',
    },
  });
  request.on('error', () => {});
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const { statusCode: status, headers: sent } = response;
  if (status !== 200) {
    const { error } = (await json(response)) as { error: { code: string; details?: unknown } };
    return { status, code: error.code, details: error.details, retryAfter: sent['retry-after'] };
  }
  const ended = once(response.resume(), 'end').then(
    () => 'by the server',
    () => 'by the client',
  );
  ends.push(ended);
  return { status, ended, leave: () => void request.destroy() };
}

describe('a stream', () => {
  it('is for wallets with an account, from when it is there', async () => {
    const wallet = Keypair.generate();
    const cookie = await signIn(scene.call, wallet);
    expect(await open(cookie)).toMatchObject({ status: 403, code: 'account_required' });

    const address = wallet.publicKey.toBase58();
    await insertAccount(scene.pool, { wallet: address, address: `account of ${address}` });

    expect(await open(cookie)).toMatchObject({ status: 200 });
  });

  it('ends at once when its owner ends its session from another browser', async () => {
    const { cookie } = await addWallet();
    const { id } = (await scene.call('GET /session', { cookie })).body.session;
    const stream = await open(cookie);
    // No turn has passed: the time is held.
    expect((await scene.call(`DELETE /sessions/${id}`, { cookie })).status).toBe(200);
    expect(await stream.ended).toBe('by the server');
  });

  it('ends at once when another process ends its session', async () => {
    const { address, cookie } = await addWallet();
    const stream = await open(cookie);
    await scene.pool.query('delete from service.sessions where wallet = $1', [address]);
    expect(await stream.ended).toBe('by the server');
  });

  it('ends when its session does by its age, with the next turn', async () => {
    const { address, cookie } = await addWallet();
    await scene.pool.query(
      `update service.sessions
       set signed_in_at = now() - interval '7 days' + interval '400 milliseconds'
       where wallet = $1`,
      [address],
    );
    const stream = await open(cookie);
    time.advance(TURN_MS);
    await until(async () => (await scene.call('GET /session', { cookie })).body.session === null);
    time.advance(TURN_MS);
    expect(await stream.ended).toBe('by the server');
  });
});

describe('open streams', () => {
  it('are two of a wallet at most', async () => {
    const { cookie } = await addWallet();
    for (let stream = 0; stream < 2; stream += 1) {
      expect(await open(cookie)).toMatchObject({ status: 200 });
    }
    expect(await open(cookie)).toEqual({
      ...{ status: 429, code: 'rate_limit_exceeded', retryAfter: '10' },
      details: { limit: LIMITS.perWallet, limit_of: 'wallet' },
    });
  });

  it('are three of an address at most, and there is room when one ends', async () => {
    const [first, second] = [await addWallet(), await addWallet()];
    const left = await open(first.cookie);
    for (const { cookie } of [first, second]) {
      expect(await open(cookie)).toMatchObject({ status: 200 });
    }
    const full = await open(second.cookie);
    const details = { limit: LIMITS.perAddress, limit_of: 'address' };
    expect(full).toMatchObject({ status: 429, details });
    left.leave?.();
    await until(async () => (await open(second.cookie)).status === 200);
  });

  it('are four of a process at most, of any wallets', async () => {
    for (const address of ['203.0.113.1', '203.0.113.2']) {
      const { cookie } = await addWallet();
      for (let stream = 0; stream < 2; stream += 1) {
        expect(await open(cookie, address)).toMatchObject({ status: 200 });
      }
    }
    const { cookie } = await addWallet();
    expect(await open(cookie, '203.0.113.3')).toMatchObject({
      ...{ status: 503, code: 'service_unavailable', retryAfter: '10' },
    });
  });
});

describe('a session that has ended by its age', () => {
  it('is deleted', async () => {
    const [ended, live] = [await addWallet(), await addWallet()];
    await scene.pool.query(
      `update service.sessions set last_used_at = now() - interval '12 hours 1 second'
       where wallet = $1`,
      [ended.address],
    );
    await deleteOldSessions(scene.pool);
    const { rows } = await scene.pool.query(
      'select wallet from service.sessions where wallet = any($1)',
      [[ended.address, live.address]],
    );
    expect(rows).toEqual([{ wallet: live.address }]);
  });
});
