import { once } from 'node:events';
import http from 'node:http';
import { json as readJson } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createBurstLimit, createLimit } from '../../../api/http/middleware/authentication.ts';
import { until } from '../../../testing/until.ts';
import {
  type ConsoleScene,
  openConsoleScene,
  PUBLIC_URL,
  signIn,
  signText,
} from './consoleScene.ts';

let scene: ConsoleScene;

beforeAll(async () => {
  scene = await openConsoleScene({ corsOrigins: ['https://elsewhere.example.com'] });
});

afterAll(() => scene.close());

/** As if so much time had passed since the session's use and sign-in. */
async function age(
  id: string,
  { used = '0', signedIn = used }: { used?: string; signedIn?: string },
): Promise<void> {
  await scene.pool.query(
    `update service.sessions set last_used_at = last_used_at - $2::interval,
       signed_in_at = signed_in_at - $3::interval where id = $1`,
    [id, used, signedIn],
  );
}

async function freshSession(): Promise<{ cookie: string; id: string }> {
  const cookie = await signIn(scene.call, scene.wallet);
  const { body } = await scene.call('GET /session', { cookie });
  return { cookie, id: body.session.id };
}

const isOpen = async (cookie: string) =>
  (await scene.call('GET /session', { cookie })).body.session !== null;

describe('a session', () => {
  it('ends 12 hours after its last use', async () => {
    const { cookie, id } = await freshSession();

    await age(id, { used: '11 hours 59 minutes' });
    expect(await isOpen(cookie)).toBe(true);
    // That was a use.
    await age(id, { used: '11 hours 59 minutes' });
    expect(await isOpen(cookie)).toBe(true);
    await age(id, { used: '12 hours' });
    expect(await isOpen(cookie)).toBe(false);
  });

  it('ends 7 days after its sign-in, however much it is used', async () => {
    const { cookie, id } = await freshSession();

    await age(id, { signedIn: '6 days 23 hours' });
    expect(await isOpen(cookie)).toBe(true);
    await age(id, { signedIn: '1 hour' });
    expect(await isOpen(cookie)).toBe(false);
  });

  it('ends when its owner signs out, and its cookie is taken back', async () => {
    const { cookie } = await freshSession();

    const { headers } = await scene.call('DELETE /session', { cookie });

    expect(headers.getSetCookie()[0]).toContain('__Host-svc_session=; Path=/');
    expect(await isOpen(cookie)).toBe(false);
  });

  it('is over for a request whose body arrives after its end', async () => {
    const { cookie, id } = await freshSession();
    await age(id, { used: '2 minutes' });
    const sending = http.request(`${scene.url}/console/api/threshold`, {
      method: 'PUT',
      headers: { cookie, origin: PUBLIC_URL, 'content-type': 'application/json' },
    });
    sending.write('{"threshold_credits":');
    // Its guard counts that as a use.
    await until(async () => {
      const { rows } = await scene.pool.query(
        `select from service.sessions where id = $1 and last_used_at > now() - interval '1 minute'`,
        [id],
      );
      return rows.length > 0;
    });
    await scene.pool.query('delete from service.sessions where id = $1', [id]);
    sending.end('7}');
    const [response] = (await once(sending, 'response')) as [http.IncomingMessage];
    expect(await readJson(response)).toMatchObject({ error: { code: 'session_required' } });
  });

  it('is listed for its wallet alone, and can be ended from another one of it', async () => {
    const { cookie, id } = await freshSession();
    const other = await freshSession();
    const listed = async (of: string) =>
      (await scene.call('GET /sessions', { cookie: of })).body.data;

    expect(await listed(cookie)).toContainEqual(expect.objectContaining({ id, is_current: true }));
    expect(JSON.stringify(await listed(scene.strangerCookie))).not.toContain(id);
    const foreign = await scene.call(`DELETE /sessions/${id}`, { cookie: scene.strangerCookie });
    expect(foreign.body.error.code).toBe('session_not_found');
    expect(await isOpen(cookie)).toBe(true);

    await scene.call(`DELETE /sessions/${id}`, { cookie: other.cookie });
    expect(await isOpen(cookie)).toBe(false);
    expect(await isOpen(other.cookie)).toBe(true);
  });

  it('is not found by an altered, doubled or empty cookie', async () => {
    const { cookie } = await freshSession();
    for (const wrong of [`${cookie}x`, cookie.slice(0, -1), `${cookie}; ${cookie}`, '']) {
      expect(await isOpen(wrong)).toBe(false);
    }
  });
});

describe('the API of the web app', () => {
  it('gives no cookie any right on /v1', async () => {
    const response = await fetch(`${scene.url}/v1/account`, { headers: { cookie: scene.cookie } });

    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: 'missing_api_key' } });
  });

  it.each([
    ['another origin', { origin: 'https://evil.example.com' }],
    ['a subdomain', { origin: 'https://x.console.example.com' }],
    ['plain HTTP', { origin: 'http://console.example.com' }],
    ['an opaque origin', { origin: 'null' }],
    ['an origin that CORS allows', { origin: 'https://elsewhere.example.com' }],
    ['a form', { origin: PUBLIC_URL, 'content-type': 'text/plain' }],
  ])('takes no change from %s', async (_name, headers) => {
    const { cookie } = await freshSession();

    const { status, body } = await scene.call('DELETE /session', { cookie, headers });

    expect([status, body.error.code]).toEqual([403, 'origin_refused']);
    expect(await isOpen(cookie)).toBe(true);
  });

  it('gives no other origin permission to read, with or without a preflight', async () => {
    const origin = 'https://elsewhere.example.com';
    const preflight = await fetch(`${scene.url}/console/api/session`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'GET' },
    });
    const read = await scene.call('GET /session', { headers: { origin } });

    expect(preflight.status).toBe(404);
    for (const { headers } of [preflight, read]) {
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  it('limits the requests of one wallet, over all its sessions', async () => {
    const walletLimit = createLimit({
      burst: 2,
      refillPerSecond: 1,
      nowMs: () => 0,
      name: 'wallet',
    });
    const limited = await openConsoleScene({ console: { walletLimit } });
    const { call, wallet, cookie, strangerCookie } = limited;
    const another = await signIn(call, wallet);

    const statuses: number[] = [];
    for (const sent of [cookie, another, cookie, strangerCookie]) {
      statuses.push((await call('GET /session', { cookie: sent })).status);
    }

    expect(statuses).toEqual([200, 200, 429, 200]);
    await limited.close();
  });

  it('limits the sign-ins of one address, over all its wallets', async () => {
    // Two of them are the scene's own.
    const signIns = createBurstLimit({ burst: 3, refillPerSecond: 0.1, nowMs: () => 0 });
    const limited = await openConsoleScene({ console: { signIns } });
    const { call, stranger } = limited;
    await signIn(call, stranger);

    const refused = await call('POST /session', { body: await signText(call, stranger) });

    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10']);
    await limited.close();
  });

  it('keeps its answers out of caches', async () => {
    const { headers } = await scene.call('GET /session', { cookie: scene.cookie });
    expect(headers.get('cache-control')).toBe('no-store');
  });
});
