import type { Connection } from '@solana/web3.js';
import {
  interceptedConnection,
  type RpcRequest,
} from '../../../testing/ledger/interceptedConnection.ts';

export interface InstructionJson {
  programIdIndex: number;
  accounts: number[];
  data: string;
}

/** A transaction as a node answers with it, as far as tests forge it. */
export interface TransactionJson {
  slot: number;
  transaction: {
    signatures: string[];
    message: { accountKeys: string[]; instructions: InstructionJson[] };
  };
  meta: {
    innerInstructions: { index: number; instructions: InstructionJson[] }[];
    preBalances: number[];
    postBalances: number[];
    preTokenBalances: { accountIndex: number; uiTokenAmount: { amount: string } }[];
    postTokenBalances: { accountIndex: number; uiTokenAmount: { amount: string } }[];
  };
}

export interface AccountJson {
  data: [base64: string, encoding: string];
  owner: string;
  executable: boolean;
}

/** A listed transaction. */
export interface ListedJson {
  signature: string;
  slot: number;
}

/** What a node changes in its answers; each gets a copy and may alter or replace it. */
export interface Forgery {
  transaction?(transaction: TransactionJson): TransactionJson | null | undefined;
  account?(account: AccountJson, address: string): AccountJson | null | undefined;
  listing?(listing: ListedJson[], address: string): ListedJson[];
  /** Instead of a transaction. */
  refusal?(signature: string): { code: number; message: string } | undefined;
}

/** The real node's answers, each asked for once, as a forging node passes them on. */
export function createForgingNode(rpcUrl: string): (forgery: Forgery) => Connection {
  const answers = new Map<string, Promise<object>>();
  return (forgery) =>
    interceptedConnection(rpcUrl, async (request, forward) => {
      const key = JSON.stringify([request.method, request.params]);
      const known = answers.get(key) ?? forward(request);
      answers.set(key, known);
      const answer = structuredClone(await known) as { result: unknown; error?: object };
      return { ...answer, ...forge(forgery, request, answer.result), id: request.id };
    });
}

function forge(forgery: Forgery, { method, params }: RpcRequest, result: unknown): object {
  const [subject] = params as [string];
  switch (method) {
    case 'getTransaction': {
      const error = forgery.refusal?.(subject);
      if (error) return { result: undefined, error };
      const forged = forgery.transaction?.(result as TransactionJson);
      return forged === undefined ? { result } : { result: forged };
    }
    case 'getAccountInfo': {
      const { value } = result as { value: AccountJson | null };
      const forged = value && forgery.account?.(value, subject);
      return { result: { ...(result as object), value: forged === undefined ? value : forged } };
    }
    case 'getSignaturesForAddress':
      return { result: forgery.listing?.(result as ListedJson[], subject) ?? result };
    default:
      return {};
  }
}
