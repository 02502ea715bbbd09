import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { PROGRAM_ID } from '../../programs/client/addresses.ts';
import { decodeArguments } from '../../programs/client/codec.ts';
import { decodeTransaction, isWritable } from '../../programs/client/wire/index.ts';
import { type Forward, forwardTo, type RpcRequest } from './interceptedConnection.ts';

/** Handles a request on its way to the node. When it throws, the connection is cut. */
export type Interceptor = (request: RpcRequest, forward: Forward) => Promise<object>;

/** A proxy between a process and the ledger's node that can hold, drop or change requests. */
export interface LedgerGate {
  url: string;
  /** Handles requests from now on with this interceptor. */
  intercept(interceptor: Interceptor): void;
  /** Forwards everything, as at the start. */
  open(): void;
  close(): Promise<void>;
}

const forwardUnchanged: Interceptor = (request, forward) => forward(request);

/** The node is unreachable. */
export const nodeUnavailable: Interceptor = async () => {
  throw new Error('the node is away');
};

/** Refused batches make each request a single call, which can be held or dropped alone. */
const BATCH_REFUSED = {
  jsonrpc: '2.0',
  id: null,
  error: { code: -32600, message: 'Batches are not taken here' },
};

export async function startLedgerGate(rpcUrl: string): Promise<LedgerGate> {
  let interceptor = forwardUnchanged;
  const forward = forwardTo(rpcUrl);
  const server = createServer(async (request, response) => {
    try {
      const asked = JSON.parse(await text(request)) as RpcRequest | unknown[];
      const answer = Array.isArray(asked) ? BATCH_REFUSED : await interceptor(asked, forward);
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    } catch {
      response.destroy();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    intercept(next) {
      interceptor = next;
    },
    open() {
      interceptor = forwardUnchanged;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/**
 * The first instruction of this name that a request sends to the program, in a transaction of any
 * version; undefined: none.
 */
export function sentToProgram(
  request: RpcRequest,
  name: string,
): TransactionInstruction | undefined {
  if (request.method !== 'sendTransaction') return undefined;
  const message = decodeTransaction(Buffer.from(String(request.params[0]), 'base64'));
  const keys = message.keys.map((bytes) => new PublicKey(bytes));
  const { numRequiredSignatures: signers } = message.header;
  const sent = message.instructions.find(
    ({ programIdIndex, data }) =>
      keys[programIdIndex]?.equals(PROGRAM_ID) && decodeArguments(name, data),
  );
  return (
    sent &&
    new TransactionInstruction({
      programId: PROGRAM_ID,
      keys: [...sent.accounts].map((index) => ({
        pubkey: keys[index] as PublicKey,
        isSigner: index < signers,
        isWritable: isWritable(message, index),
      })),
      data: Buffer.from(sent.data),
    })
  );
}
