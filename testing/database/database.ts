import { randomBytes } from 'node:crypto';
import { delay } from '../../common/wait.ts';
import { createPrefix } from './server/offerServer.ts';
import {
  type DatabaseServer,
  databaseAt,
  execute,
  startServer,
  templateOf,
} from './server/startServer.ts';

export { execute };

/** A database of one test. */
export interface TestDatabase {
  databaseUrl: string;
  /** Drops the database; fails when a test left a connection open. */
  close(): Promise<void>;
}

/** Only for a forgotten pool: sessions of ended processes end when the server gets to them. */
const CLOSING_MS_MAX = 60_000;
const CLOSING_POLL_MS = 50;

/** The server outside of jest: started for the first open database and closed with the last. */
let ownServer: ReturnType<typeof startServer> | undefined;
let openDatabases = 0;

/** The server of the jest run, once it was requested. */
let sharedServer: Promise<DatabaseServer> | undefined;

/**
 * Creates a database on the server that all files of a run share.
 *
 * @param options.isEmpty without the tables that the indexer creates at its start
 */
export async function createTestDatabase({ isEmpty = false } = {}): Promise<TestDatabase> {
  openDatabases += 1;
  const { serverUrl, prefix } = await findServer();
  const name = `${prefix}_${randomBytes(8).toString('hex')}`;
  // Copying files is a quarter faster than logging each page.
  const source = isEmpty ? '' : `template ${templateOf(prefix)}`;
  await execute(serverUrl, `create database ${name} ${source} strategy file_copy`);
  return {
    databaseUrl: databaseAt(serverUrl, name),
    async close() {
      await expectUnused(serverUrl, name);
      await execute(serverUrl, `drop database ${name} with (force)`);
      openDatabases -= 1;
      if (openDatabases > 0) return;
      const last = await ownServer;
      ownServer = undefined;
      await last?.close();
    },
  };
}

function findServer(): Promise<DatabaseServer> {
  const { TEST_DATABASE_OFFER: offer, DATABASE_URL: givenUrl } = process.env;
  if (offer !== undefined) {
    sharedServer ??= askFor(offer);
    return sharedServer;
  }
  ownServer ??= startServer({ givenUrl, prefix: createPrefix() });
  return ownServer;
}

async function askFor(offer: string): Promise<DatabaseServer> {
  const response = await fetch(offer);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as DatabaseServer;
}

/** A forgotten pool fails its test file; a connection that is just closing does not. */
async function expectUnused(serverUrl: string, name: string): Promise<void> {
  const deadline = performance.now() + CLOSING_MS_MAX;
  for (;;) {
    const sessions = await execute(
      serverUrl,
      `select application_name, state, query, now() - query_start as since
       from pg_stat_activity where datname = '${name}' and backend_type = 'client backend'`,
    );
    if (sessions.length === 0) return;
    if (performance.now() > deadline) {
      throw new Error(`Still connected to the test's database: ${JSON.stringify(sessions)}`);
    }
    await delay(CLOSING_POLL_MS);
  }
}
