import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Keypair, VersionedTransaction } from '@solana/web3.js';
import type { z } from 'zod';
import {
  type DevelopmentAccounts,
  type DevelopmentSigned,
  developmentSignRequest,
} from '../../api/contracts/session.ts';
import { sign } from '../../programs/client/proof.ts';

/** An account of the development ledger, by what it is there. */
interface DevelopmentAccount {
  readonly name: string;
  readonly keypair: Keypair;
}

const BODY_BYTES_MAX = 32_768;

/** A request that is refused. Its message is for the developer of the pages. */
class RefusedError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Starts the wallet of a development ledger on loopback. It signs for the pages of one origin. Its keys stay in this process: no other
 * part of the stack has them. The page asks its user before each signature.
 */
export async function startDevelopmentWallet(accounts: readonly DevelopmentAccount[]) {
  let origin: string | undefined;
  let host: string | undefined;

  /** @throws RefusedError for another page, and for a name that was made to lead to this address */
  function assertOurs(request: IncomingMessage): void {
    const isOurs = origin !== undefined && request.headers.origin === origin;
    if (isOurs && request.headers.host === host) return;
    throw new RefusedError(403, `Only pages of ${origin ?? 'the stack'} may ask this wallet.`);
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      assertOurs(request);
      response.setHeader('access-control-allow-origin', String(origin));
      response.setHeader('vary', 'Origin');
      if (request.method === 'OPTIONS') {
        response.setHeader('access-control-allow-headers', 'content-type');
        response.setHeader('access-control-allow-private-network', 'true');
        response.writeHead(204).end();
        return;
      }
      reply(response, 200, await answer(request, accounts));
    } catch (error) {
      const status = error instanceof RefusedError ? error.status : 400;
      reply(response, status, { error: (error as Error).message });
    }
  }

  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}`,
    /** From now on it signs for this origin, and until then for none. */
    serveFor(publicUrl: string): void {
      origin = new URL(publicUrl).origin;
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** @throws RefusedError for a request that it does not know, or an account that it does not have */
async function answer(
  request: IncomingMessage,
  accounts: readonly DevelopmentAccount[],
): Promise<DevelopmentAccounts | DevelopmentSigned> {
  const known = accounts.map(({ name, keypair }) => ({
    name,
    address: keypair.publicKey.toBase58(),
    keypair,
  }));
  const route = `${request.method} ${request.url}`;
  if (route === 'GET /accounts') {
    return { accounts: known.map(({ name, address }) => ({ name, address })) };
  }
  if (route !== 'POST /sign') throw new RefusedError(404, `There is no ${route}.`);
  const parsed = developmentSignRequest.safeParse(await readJson(request));
  if (!parsed.success) throw new RefusedError(400, 'The body must name address, kind and bytes.');
  const account = known.find(({ address }) => address === parsed.data.address);
  if (!account) throw new RefusedError(404, 'The wallet has no such account.');
  return { signed: signAs(account.keypair, parsed.data) };
}

/** @throws Error for bytes that are no transaction, or none that the account signs */
function signAs(keypair: Keypair, { kind, bytes }: z.infer<typeof developmentSignRequest>): string {
  const given = Buffer.from(bytes, 'base64');
  if (kind === 'message') return Buffer.from(sign(given, keypair)).toString('base64');
  const transaction = VersionedTransaction.deserialize(given);
  transaction.sign([keypair]);
  return Buffer.from(transaction.serialize()).toString('base64');
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) throw new RefusedError(413, 'The body is too large.');
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

function reply(response: ServerResponse, status: number, body: object): void {
  response
    .writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    .end(JSON.stringify(body));
}
