import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type StartedProcess, startProcess } from '../../childProcess.ts';
import type { DatabaseServer } from './startServer.ts';

/** The database server of all files of a run. */
interface OfferedServer {
  /** A secret address that answers with a `DatabaseServer`. */
  url: string;
  close(): Promise<void>;
}

/**
 * Offers a database server, which starts at the first request, because some runs need none.
 *
 * @param givenUrl an existing server to use instead
 */
export async function offerServer(givenUrl: string | undefined): Promise<OfferedServer> {
  const secret = randomBytes(32).toString('hex');
  const prefix = createPrefix();
  let starting: Promise<StartedProcess> | undefined;

  async function find(): Promise<DatabaseServer> {
    starting ??= startProcess('testing/database/server/main.ts', {
      ...(givenUrl !== undefined && { DATABASE_URL: givenUrl }),
      TEST_DATABASE_PREFIX: prefix,
    });
    return { serverUrl: (await starting).url, prefix };
  }

  const server = createServer((request, response) => {
    if (request.url !== `/${secret}`) return void response.writeHead(404).end();
    find().then(
      (found) => response.end(JSON.stringify(found)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/${secret}`,
    async close() {
      server.close();
      server.closeAllConnections();
      // The requests have returned the error of a failed start.
      const started = await starting?.catch(() => undefined);
      await started?.terminate();
    },
  };
}

/** A prefix for the database names of one run. */
export function createPrefix(): string {
  return `svc_test_${randomBytes(8).toString('hex')}`;
}
