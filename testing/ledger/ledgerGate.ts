import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import {
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { Forward, RpcRequest } from './interceptedConnection.ts';

/** What becomes of a request on its way to the node; one that throws loses its connection. */
export type Road = (request: RpcRequest, forward: Forward) => Promise<object>;

/** A place between a process and the ledger's node where requests can be held, lost or changed. */
export interface LedgerGate {
  url: string;
  /** For requests from now on. */
  setRoad(road: Road): void;
  /** Everything passes, as at the start. */
  open(): void;
  close(): Promise<void>;
}

const passOn: Road = (request, forward) => forward(request);

/** The node is not there. */
export const nodeAway: Road = async () => {
  throw new Error('the node is away');
};

/** So that each request is one question, to be held or lost by itself. */
export const BATCH_REFUSED = {
  jsonrpc: '2.0',
  id: null,
  error: { code: -32600, message: 'Batches are not taken here' },
};

export async function startLedgerGate(rpcUrl: string): Promise<LedgerGate> {
  let road = passOn;
  const forward: Forward = async (request) => {
    const answer = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    return (await answer.json()) as object;
  };
  const server = createServer(async (request, response) => {
    try {
      const asked = JSON.parse(await text(request)) as RpcRequest | unknown[];
      const answer = Array.isArray(asked) ? BATCH_REFUSED : await road(asked, forward);
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    } catch {
      response.destroy();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setRoad(next) {
      road = next;
    },
    open() {
      road = passOn;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** The instructions of a transaction on its way to the node; none of any other request. */
export function sentInstructions({ method, params }: RpcRequest): TransactionInstruction[] {
  if (method !== 'sendTransaction') return [];
  const { message } = VersionedTransaction.deserialize(Buffer.from(String(params[0]), 'base64'));
  return TransactionMessage.decompile(message).instructions;
}
