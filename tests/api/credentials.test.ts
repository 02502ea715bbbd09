import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createKey } from '../../api/account/keys.ts';
import { suspendWallet } from '../../api/account/suspensions.ts';
import { routes } from '../../api/contracts/index.ts';
import { pageAccess, type Route } from '../../api/contracts/route.ts';
import { insertWebhook } from '../../api/sql/accounts.ts';
import { insertMirroredJobs } from '../../testing/database/jobListings.ts';
import {
  type ConsoleScene,
  openConsoleScene,
  PUBLIC_URL,
  signIn,
} from '../console/server/consoleScene.ts';

const CREDENTIALS = [
  'none',
  'unknown key',
  'key',
  'suspended key',
  'unknown session',
  'session',
  'suspended session',
  'operator session',
] as const;
type Credential = (typeof CREDENTIALS)[number];

const JOB = `job_${'0'.repeat(32)}`;
const WEBHOOK = `wh_${'a'.repeat(32)}`;
/** Refusals of the one who asks; every other answer comes behind the guard. */
const REFUSALS = [
  'missing_api_key',
  'invalid_api_key',
  'key_suspended',
  'session_required',
  'not_permitted',
];

let scene: ConsoleScene;
const suspended = Keypair.generate();
const keys = new Map<Credential, string>();

beforeAll(async () => {
  scene = await openConsoleScene();
  const addressOf = (wallet: Keypair) => wallet.publicKey.toBase58();
  const owner = addressOf(scene.wallet);
  keys.set('unknown key', `svc_live_${'A'.repeat(32)}`);
  keys.set('key', await createKey(scene.pool, addressOf(Keypair.generate())));
  keys.set('suspended key', await createKey(scene.pool, addressOf(suspended)));
  await suspendWallet(scene.pool, addressOf(suspended));
  const job = { wallet: owner, id: JOB, lockedAt: 1_800_000_000, status: 'settled', model: 'm' };
  await insertMirroredJobs(scene.pool, [job]);
  await insertWebhook(scene.pool, {
    id: WEBHOOK,
    wallet: owner,
    url: 'https://hooks.example.com/',
    events: ['job.completed'],
    apiVersion: '1',
    sealedSecret: Buffer.alloc(1),
  });
});

afterAll(() => scene?.close());

/** A session of its own for each request, since some end it. */
async function cookieOf(credential: Credential): Promise<string | undefined> {
  if (credential === 'unknown session') return `__Host-svc_session=${'A'.repeat(43)}`;
  const wallets = {
    session: scene.stranger,
    'suspended session': suspended,
    'operator session': scene.operator,
  };
  const wallet = wallets[credential as keyof typeof wallets];
  return wallet && signIn(scene.call, wallet);
}

async function ask(root: '/v1' | '/console/api', route: Route, credential: Credential) {
  const ids = { job_id: JOB, webhook_id: WEBHOOK } as Record<string, string>;
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? 'x');
  const key = keys.get(credential);
  const cookie = await cookieOf(credential);
  const response = await fetch(`${scene.url}${root}${path}`, {
    method: route.method,
    headers: {
      origin: PUBLIC_URL,
      'content-type': 'application/json',
      ...(key && { authorization: `Bearer ${key}` }),
      ...(cookie && { cookie }),
    },
    ...(route.method !== 'GET' && { body: '{}' }),
  });
  const text = await response.text();
  const code: string | undefined = text.startsWith('{') ? JSON.parse(text).error?.code : undefined;
  return { status: response.status, code };
}

/** What `/v1` refuses a credential with: a cookie is none there. */
function refusalOfKey(credential: Credential): string | undefined {
  if (credential === 'key') return undefined;
  if (credential === 'suspended key') return 'key_suspended';
  return credential === 'unknown key' ? 'invalid_api_key' : 'missing_api_key';
}

/** What the web app's API refuses a credential with: a key is none there. */
function refusalOfSession(route: Route, credential: Credential): string | undefined {
  const access = pageAccess(route);
  if (access === 'public') return undefined;
  if (!credential.endsWith('session') || credential === 'unknown session') {
    return 'session_required';
  }
  const usesKey = route.needsSpender || (route.method === 'POST' && route.path.startsWith('/key'));
  if (credential === 'suspended session' && usesKey) return 'key_suspended';
  const isForOperators = access === 'operator' || access === 'arbiter';
  return isForOperators && credential !== 'operator session' ? 'not_permitted' : undefined;
}

const table = Object.entries<Route>(routes);
const named = (entries: typeof table) =>
  entries.map(([name, route]) => [`${route.method} ${route.path} (${name})`, route] as const);

describe('the guards of the table of routes', () => {
  it.each(named(table.filter(([, { callers }]) => callers.includes('key'))))(
    'admit live keys alone below /v1: %s',
    async (_, route) => {
      for (const credential of CREDENTIALS) {
        const { code } = await ask('/v1', route, credential);
        const refusal = REFUSALS.find((one) => one === code);
        expect({ credential, refusal }).toEqual({ credential, refusal: refusalOfKey(credential) });
      }
    },
  );

  it.each(named(table.filter((entry) => pageAccess(entry[1]))))(
    'admit sessions by their access below /console/api: %s',
    async (_, route) => {
      for (const credential of CREDENTIALS) {
        const { code } = await ask('/console/api', route, credential);
        const refusal = REFUSALS.find((one) => one === code);
        const expected = refusalOfSession(route, credential);
        expect({ credential, refusal }).toEqual({ credential, refusal: expected });
      }
    },
  );

  it('serve below /v1 nothing that is for pages alone', async () => {
    const ofPages = table.filter(([, { callers }]) => !callers.includes('key'));
    for (const [name, route] of ofPages) {
      expect({ name, ...(await ask('/v1', route, 'key')) }).toMatchObject({ name, status: 404 });
    }
  });

  it.each(['key', 'session'] as const)(
    "hide another wallet's job and webhook from a %s",
    async (credential) => {
      const root = credential === 'key' ? '/v1' : '/console/api';
      for (const name of ['getJob', 'deleteWebhook'] as const) {
        expect(await ask(root, routes[name], credential)).toMatchObject({ status: 404 });
      }
    },
  );
});
