import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type StartedProcess, startProcess } from '../../childProcess.ts';
import type { DatabaseServer } from './startServer.ts';

/** The database server that all files of a run share. */
interface OfferedServer {
  /** Answers with a `DatabaseServer`, to those who know this address. */
  url: string;
  close(): Promise<void>;
}

/**
 * Offers a database server, which is started for the first that asks: many a file needs none.
 *
 * @param givenUrl a server to use instead of one that is started
 */
export async function offerServer(givenUrl: string | undefined): Promise<OfferedServer> {
  const secret = randomBytes(32).toString('hex');
  const prefix = createPrefix();
  let starting: Promise<StartedProcess> | undefined;

  async function find(): Promise<DatabaseServer> {
    starting ??= startProcess('testing/database/server/main.ts', {
      ...(givenUrl !== undefined && { DATABASE_URL: givenUrl }),
      SVC_TEST_DATABASE_PREFIX: prefix,
    });
    return { serverUrl: (await starting).url, prefix };
  }

  const asks = createServer((request, response) => {
    if (request.url !== `/${secret}`) return void response.writeHead(404).end();
    find().then(
      (found) => response.end(JSON.stringify(found)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  }).listen(0, '127.0.0.1');
  await once(asks, 'listening');
  const { port } = asks.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/${secret}`,
    async close() {
      asks.close();
      asks.closeAllConnections();
      // Whoever asked was told why it did not start.
      const started = await starting?.catch(() => undefined);
      await started?.terminate();
    },
  };
}

/** Of a run, and of no other. */
export function createPrefix(): string {
  return `svc_test_${randomBytes(8).toString('hex')}`;
}
