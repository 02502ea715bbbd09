import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  GetTransactionsForAddressConfigSignatures,
  TransactionForAddressSignature,
} from 'helius-sdk/types/types';
import { BATCH_REFUSED } from '../../../testing/ledger/ledgerGate.ts';

export const API_KEY = 'a-key-of-helius';

export type Row = TransactionForAddressSignature;
/** Plays Helius: its RPC in front of a ledger. */
export interface FakeHelius {
  origin: string;
  /** Pages of history that were asked for. */
  pagesAsked: number;
  /** Questions for the ledger's own list that passed through. */
  listsPassed: number;
  /** What is shown of the history's rows, oldest first. */
  show: (rows: Row[]) => Row[];
  /** Stands between a page and who asked for it; counted from 0. */
  alterPage: (rows: Row[], page: number) => Row[] | Promise<Row[]>;
  close(): void;
}

/** A method that this node does not know, or that the plan does not include. */
export class RefusedError extends Error {
  code = -32601;
}

/** @param ledgerUrl the ledger whose transactions the history is made of */
export async function startFakeHelius(options: {
  ledgerUrl?: string;
  rowsPerPage?: number;
}): Promise<FakeHelius> {
  const { ledgerUrl, rowsPerPage = 5 } = options;

  const server = createServer(async (request, response) => {
    const { status, body } = await answerRpc(JSON.parse(await readText(request)));
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });

  async function answerRpc(question: { id: unknown; method: string; params: never }) {
    if (Array.isArray(question)) return { status: 200, body: BATCH_REFUSED };
    const { id, method } = question;
    if (method === 'getTransactionsForAddress') {
      try {
        return {
          status: 200,
          body: { jsonrpc: '2.0', id, result: await listPage(question.params) },
        };
      } catch (error) {
        if (!(error instanceof RefusedError)) return { status: 503, body: {} };
        const { code, message } = error;
        return { status: 200, body: { jsonrpc: '2.0', id, error: { code, message } } };
      }
    }
    if (method === 'getPriorityFeeEstimate') {
      return { status: 200, body: { jsonrpc: '2.0', id, result: { priorityFeeEstimate: 0 } } };
    }
    if (method === 'getSignaturesForAddress') fake.listsPassed += 1;
    return { status: 200, body: await askLedger(question) };
  }

  async function askLedger(question: object): Promise<{ result: unknown }> {
    const answer = await fetch(ledgerUrl as string, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(question),
    });
    return (await answer.json()) as { result: unknown };
  }

  async function listPage([address, config]: [string, GetTransactionsForAddressConfigSignatures]) {
    const page = fake.pagesAsked;
    fake.pagesAsked += 1;
    const { gte = 0, lte = Number.MAX_SAFE_INTEGER } = config.filters?.slot ?? {};
    if (config.sortOrder !== 'asc') throw new Error('asked for the newest first');
    // Of whole transactions it refuses the versions that the question does not name.
    if (config.transactionDetails !== 'signatures') throw new Error('asked for transactions');
    const all = await listAll(address, config.commitment as string);
    const rows = fake.show(all.filter(({ slot }) => slot >= gte && slot <= lte));
    const start = config.paginationToken ? Number(config.paginationToken.split(':')[1]) : 0;
    const end = start + Math.min(rowsPerPage, config.limit ?? rowsPerPage);
    const data = await fake.alterPage(rows.slice(start, end), page);
    return { data, paginationToken: end < rows.length ? `${data.at(-1)?.slot}:${end}` : null };
  }

  async function listAll(address: string, commitment: string): Promise<Row[]> {
    const question = { jsonrpc: '2.0', id: 1, method: 'getSignaturesForAddress' };
    const newestFirst: Row[] = [];
    for (;;) {
      const before = newestFirst.at(-1)?.signature;
      const params = [address, { commitment, ...(before && { before }) }];
      const { result } = await askLedger({ ...question, params });
      newestFirst.push(...(result as Row[]));
      if ((result as Row[]).length === 0) return newestFirst.reverse();
    }
  }

  const fake: FakeHelius = {
    origin: '',
    pagesAsked: 0,
    listsPassed: 0,
    show: (rows) => rows,
    alterPage: (rows) => rows,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  fake.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return fake;
}

const readText = (request: IncomingMessage): Promise<string> =>
  new Response(request as never).text();
