import { once } from 'node:events';
import { createServer } from 'node:net';
import type pg from 'pg';
import { WebSocket } from 'ws';
import { connectRpc } from '../../programs/client/rpc/rpc.ts';
import { isUnchecked } from '../database/connection.ts';
import { createPool } from '../postgres.ts';
import { reasonOf } from '../reasonOf.ts';
import type { StartCheck } from '../startChecks.ts';
import { refusalOf } from '../transientErrors.ts';
import { assertOwnSessions } from './databaseSession.ts';
import { listenAt } from './urls.ts';

/**
 * Opens what connections a check needs, and closes them.
 *
 * @throws without the address, which holds a password
 */
export async function withCheckedDatabase<Result>(
  databaseUrl: string,
  work: (database: pg.Pool) => Promise<Result>,
): Promise<Result> {
  const pool = createPool({ databaseUrl, applicationName: 'svc-check', max: 2 });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

/** The database answers, and takes writes. */
export function databaseCheck(databaseUrl: string): StartCheck {
  return {
    what: 'database',
    run: () =>
      withCheckedDatabase(databaseUrl, async (database) => {
        const reading = database.query<{ version: string; is_reading: boolean }>(
          `select current_setting('server_version') as version,
                  current_setting('transaction_read_only')::boolean as is_reading`,
        );
        const { rows } = await reading.catch((error: unknown) => {
          const reason = refusalOf(error) ?? reasonOf(error);
          throw new Error(`DATABASE_URL cannot be used: ${reason}`, { cause: error });
        });
        const [row] = rows;
        if (row?.is_reading) throw new Error('DATABASE_URL leads to a server that only reads');
        await assertOwnSessions(database);
        const warning = isUnchecked(databaseUrl) ? ', over TLS that checks no certificate' : '';
        return `PostgreSQL ${row?.version}${warning}`;
      }),
  };
}

/** The ledger's node answers over HTTP, and opens its websocket. */
export function nodeChecks({ rpcUrl, wsUrl }: { rpcUrl: string; wsUrl: string }): StartCheck[] {
  return [
    {
      what: 'node',
      run: async () => {
        const readVersion = (result: unknown) =>
          (result as { 'solana-core': string })['solana-core'];
        return `version ${await connectRpc({ url: rpcUrl }).ask('getVersion', [], readVersion)}`;
      },
    },
    {
      what: 'websocket',
      run: async () => {
        const socket = new WebSocket(wsUrl);
        try {
          await once(socket, 'open');
          return 'open';
        } finally {
          socket.terminate();
        }
      },
    },
  ];
}

/** The port can be opened; 0 always can. */
export function portCheck(at: Parameters<typeof listenAt>[1], what = 'port'): StartCheck {
  return {
    what,
    run: async () => {
      const server = createServer();
      const { port } = await listenAt(server, at);
      server.close();
      return `${at.host}:${at.port === 0 ? 'any' : port}`;
    },
  };
}
