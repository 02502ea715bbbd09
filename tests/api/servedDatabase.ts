import type { ServerOptions } from 'node:http';
import type pg from 'pg';
import type { AppServices } from '../../api/app.ts';
import { insertAccount, openKeyedDatabase } from './keyedDatabase.ts';
import { serveApp } from './serveApp.ts';

/** What a request has beside its path. */
interface Sent {
  method?: string;
  /** By default that of the wallet; null: none. */
  key?: string | null;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
}

export type ServedDatabase = Awaited<ReturnType<typeof openServedDatabase>>;

/** The app over a database with the key and the account of one wallet. */
export async function openServedDatabase(
  services: (pool: pg.Pool) => Partial<AppServices>,
  serverOptions: ServerOptions = {},
) {
  const database = await openKeyedDatabase();
  const { pool, apiKey } = database;
  await insertAccount(pool, { wallet: 'a wallet' });
  const app = await serveApp({ database: pool, ...services(pool) }, serverOptions);
  return {
    ...{ pool, apiKey, url: app.url },
    async call<Body>(path: string, { key = apiKey, headers, body, method }: Sent = {}) {
      const response = await fetch(app.url + path, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: { ...(key !== null && { authorization: `Bearer ${key}` }), ...headers },
        ...(body !== undefined && { body }),
      });
      const { status, headers: received } = response;
      return { status, headers: received, body: (await response.json()) as Body };
    },
    async close() {
      await app.close();
      await database.close();
    },
  };
}
