import type { Connection } from '@solana/web3.js';
import type { LedgerConnection } from '../../../programs/client/ledgerConnection.ts';
import { connectLedger } from '../../../programs/client/verify/connection/connectLedger.ts';
import {
  type Forward,
  forwardTo,
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
  version: 'legacy' | number;
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

interface Answer {
  result?: unknown;
  error?: { code: number; message: string };
}

/** The real node's answers, each asked for once, as a forging node passes them on. */
export interface ForgingNode {
  connection(forgery: Forgery): Connection;
  /**
   * As `svc verify` reads it, by no web3.js.
   *
   * @param heard gets each answer, as it was passed on
   */
  reader(forgery: Forgery, heard?: Heard): LedgerConnection;
}

export type Heard = (request: Pick<RpcRequest, 'method' | 'params'>, result: unknown) => void;

export function createForgingNode(rpcUrl: string): ForgingNode {
  const answers = new Map<string, Promise<object>>();
  async function ask(forgery: Forgery, request: RpcRequest, forward: Forward): Promise<Answer> {
    const key = JSON.stringify([request.method, request.params]);
    const known = answers.get(key) ?? forward(request);
    answers.set(key, known);
    const answer = structuredClone(await known) as Answer;
    return { ...answer, ...forge(forgery, request, answer.result) };
  }
  return {
    connection: (forgery) =>
      interceptedConnection(rpcUrl, async (request, forward) => {
        return { ...(await ask(forgery, request, forward)), id: request.id };
      }),
    reader: (forgery, heard = () => {}) =>
      connectLedger({
        async ask(method, params, read) {
          const request = { jsonrpc: '2.0', id: '1', method, params: [...params] };
          const { result, error } = await ask(forgery, request, forwardTo(rpcUrl));
          if (error) throw Object.assign(new Error(error.message), { code: error.code });
          heard(request, result);
          return read(result);
        },
      }),
  };
}

/** The words of a node to a reader of older versions alone. */
const TOO_NEW = {
  code: -32_015,
  message: 'Transaction version (7) is not supported by the requesting client.',
};

function isShown(shown: TransactionJson | null, config: unknown): boolean {
  const { maxSupportedTransactionVersion: max = -1 } = config as Record<string, number>;
  return typeof shown?.version !== 'number' || shown.version <= max;
}

function forge(forgery: Forgery, { method, params }: RpcRequest, result: unknown): object {
  const [subject] = params as [string];
  switch (method) {
    case 'getTransaction': {
      const error = forgery.refusal?.(subject);
      if (error) return { result: undefined, error };
      const forged = result && forgery.transaction?.(result as TransactionJson);
      const shown = (forged === undefined ? result : forged) as TransactionJson | null;
      return isShown(shown, params[1]) ? { result: shown } : { result: undefined, error: TOO_NEW };
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
