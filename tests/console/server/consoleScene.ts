import { Keypair } from '@solana/web3.js';
import type pg from 'pg';
import type { z } from 'zod';
import { createWebhooks } from '../../../api/account/webhooks.ts';
import type { AppServices } from '../../../api/app.ts';
import type { ConsoleServices } from '../../../api/console/console.ts';
import { routes } from '../../../api/contracts/index.ts';
import type { Route } from '../../../api/contracts/route.ts';
import { createBurstLimit, createLimit } from '../../../api/http/middleware/authentication.ts';
import { createOpenStreams, type STREAM_LIMITS } from '../../../api/stream/openStreams.ts';
import { createWebhookListeners } from '../../../api/stream/webhookListeners.ts';
import { createLogger } from '../../../common/logger.ts';
import { createSealing } from '../../../common/sealing.ts';
import { systemTime, type Time } from '../../../common/wait.ts';
import { sign } from '../../../programs/client/proof.ts';
import { SECRETS_KEY } from '../../../testing/indexer/indexerProcess.ts';
import { type KeyedDatabase, openKeyedDatabase } from '../../api/keyedDatabase.ts';
import { serveApp } from '../../api/serveApp.ts';

export const PUBLIC_URL = 'https://console.example.com';
/** The ledger's time: a day of UTC begins with it. */
export const LEDGER_SECONDS = 20_000n * 86_400n;
const nowSeconds = () => LEDGER_SECONDS;
const GATEWAY = Keypair.generate().publicKey.toBase58();

// biome-ignore lint/suspicious/noExplicitAny: bodies are compared as a whole by the tests
type Json = any;

interface Answer {
  status: number;
  headers: Headers;
  body: Json;
}

interface CallOptions {
  cookie?: string | undefined;
  body?: unknown;
  /** Replace what our own pages send. */
  headers?: Record<string, string>;
}

/** What a route promises to answer. */
function contractOf(method: string, path: string): z.ZodType | undefined {
  const [asked = ''] = path.split('?');
  const route = Object.values<Route>(routes).find(
    (one) =>
      one.method === method &&
      new RegExp(`^${one.path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`).test(asked),
  );
  return route?.pageAnswer ?? route?.answer;
}

/** Calls /console/api as our own pages do. */
export type CallConsole = (route: string, options?: CallOptions) => Promise<Answer>;

/**
 * @param url where the API listens
 * @param origin of its pages
 * @param options.isReal whether addresses and signatures are some: then every answer is held against
 *   its contract
 */
export function consoleAt(
  url: string,
  origin: string,
  { isReal = false }: { isReal?: boolean } = {},
): CallConsole {
  return async (route, { cookie, body, headers } = {}) => {
    const [method = '', path] = route.split(' ');
    const response = await fetch(`${url}/console/api${path}`, {
      method,
      headers: {
        ...(method !== 'GET' && { origin, 'content-type': 'application/json' }),
        ...(cookie !== undefined && { cookie }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    const answered = isJson ? JSON.parse(text) : text;
    if (response.ok && isReal) contractOf(method, path ?? '')?.parse(answered);
    return { status: response.status, headers: response.headers, body: answered };
  };
}

/** The text to sign for a sign-in, signed by the wallet. */
export async function signText(call: CallConsole, wallet: Keypair): Promise<SignedText> {
  const address = wallet.publicKey.toBase58();
  const { body } = await call('POST /session/message', { body: { address } });
  return signedText(wallet, body);
}

export interface SignedText {
  address: string;
  nonce: string;
  signed_message: string;
  signature: string;
}

export function signedText(
  wallet: Keypair,
  { message, input }: { message: string; input: { nonce: string } },
): SignedText {
  const bytes = Buffer.from(message);
  return {
    address: wallet.publicKey.toBase58(),
    nonce: input.nonce,
    signed_message: bytes.toString('base64'),
    signature: Buffer.from(sign(bytes, wallet)).toString('base64'),
  };
}

/** Signs in. @returns the session's cookie as browsers send it */
export async function signIn(call: CallConsole, wallet: Keypair): Promise<string> {
  const { headers, body, status } = await call('POST /session', {
    body: await signText(call, wallet),
  });
  const [cookie] = headers.getSetCookie();
  if (!cookie) throw new Error(`No session was opened: ${status} ${JSON.stringify(body)}`);
  return cookie.split(';')[0] as string;
}

/** The web app's API on a database, without a ledger. */
export interface ConsoleScene {
  call: CallConsole;
  url: string;
  pool: pg.Pool;
  wallet: Keypair;
  /** The wallet's cookie. */
  cookie: string;
  stranger: Keypair;
  strangerCookie: string;
  operator: Keypair;
  /** The same from another process. */
  another(services?: Partial<AppServices>): Promise<{ call: CallConsole; close(): Promise<void> }>;
  close(): Promise<void>;
}

/**
 * @param options.on a migrated database; by default a new one
 * @param options.streams the time and the limits of streams
 */
export async function openConsoleScene({
  console: given = {},
  streams: streamOptions = {},
  on,
  ...services
}: Partial<Omit<AppServices, 'console'>> & {
  console?: Partial<ConsoleServices>;
  streams?: { time?: Time; limits?: typeof STREAM_LIMITS };
  on?: Pick<KeyedDatabase, 'pool' | 'close'>;
} = {}): Promise<ConsoleScene> {
  const database = on ?? (await openKeyedDatabase());
  const { pool } = database;
  const secret = Buffer.from(SECRETS_KEY, 'base64');
  const [wallet, stranger, operator] = [Keypair.generate(), Keypair.generate(), Keypair.generate()];
  const logger = createLogger({ name: 'test', level: 'silent' });
  const openStreams = createOpenStreams({ pool, logger, ...streamOptions });
  await openStreams.start();
  const { time = systemTime } = streamOptions;
  const listeners = createWebhookListeners({ pool, openStreams, logger, time });
  const serve = (further: Partial<AppServices> = {}) =>
    serveApp({
      database: pool,
      webhooks: createWebhooks({
        pool,
        sealing: createSealing(secret),
        resolve: async () => ['93.184.215.14'],
        allowLoopback: false,
      }),
      publicUrl: PUBLIC_URL,
      unmirrored: { find: async () => undefined },
      nowSeconds,
      console: {
        pool,
        sealing: createSealing(secret),
        deployment: {
          rpc_url: 'https://rpc.example.com',
          program_id: GATEWAY,
          gateway: GATEWAY,
          commitment: 'confirmed',
          loopback_allowed: false,
          development_wallet_url: null,
        },
        operators: [operator.publicKey.toBase58()],
        secrets: [secret],
        walletLimit: createLimit({
          burst: 10_000,
          refillPerSecond: 1,
          nowMs: () => 0,
          name: 'wallet',
        }),
        signIns: createBurstLimit({ burst: 10_000, refillPerSecond: 1, nowMs: () => 0 }),
        listeners,
        budget: { perMinute: 60 },
        rpc: { ask: async () => Promise.reject(new Error('there is no ledger')) },
        nowMs: Date.now,
        ...given,
      },
      ...services,
      ...further,
    });
  const app = await serve();
  const call = consoleAt(app.url, PUBLIC_URL);
  return {
    ...{ call, pool, wallet, stranger, operator, url: app.url },
    cookie: await signIn(call, wallet),
    strangerCookie: await signIn(call, stranger),
    async another(further) {
      const other = await serve(further);
      return { call: consoleAt(other.url, PUBLIC_URL), close: other.close };
    },
    async close() {
      listeners.close();
      await app.close();
      await openStreams.close();
      await database.close();
    },
  };
}
