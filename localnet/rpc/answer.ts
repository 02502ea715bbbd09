import { AirdropError } from '../bank/faucet.ts';
import { AccountRefusedError } from '../runtime/runtime.ts';
import { LedgerFilesError, StorageFullError } from '../store/errors.ts';
import { serialize } from '../wire/text.ts';
import { accountMethods } from './methods/accounts.ts';
import { blockMethods } from './methods/blocks.ts';
import { clusterMethods } from './methods/cluster.ts';
import { developmentMethods } from './methods/development.ts';
import { tokenMethods } from './methods/tokens.ts';
import { transactionMethods } from './methods/transactions.ts';
import {
  CallError,
  internalError,
  invalidParams,
  invalidRequest,
  type Method,
  methodNotFound,
  nodeUnhealthy,
  parseError,
  type RpcContext,
} from './protocol/method.ts';

/** Every method over HTTP, by name. */
export const METHODS: ReadonlyMap<string, Method> = new Map(
  Object.entries({
    ...accountMethods,
    ...tokenMethods,
    ...transactionMethods,
    ...blockMethods,
    ...clusterMethods,
    ...developmentMethods,
  }),
);

/** The maximum of calls in one batch. */
const BATCH_MAX = 1_000;

/** Returns the result of a call. */
type Respond = (method: string, params: unknown) => unknown;

/** Handles an error of the ledger itself, not of a call. */
export type OnFault = (error: Error) => void;

/**
 * Answers a JSON-RPC body: one call, or a batch of them in their order.
 *
 * @param respond returns the result of a call @throws CallError
 * @returns JSON, or undefined when the body had only notifications
 */
export async function answerBody(body: string, respond: Respond): Promise<string | undefined> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return errorText(null, parseError());
  }
  if (!Array.isArray(parsed)) return answerCall(parsed, respond);
  if (parsed.length === 0) return errorText(null, invalidRequest('an empty batch'));
  if (parsed.length > BATCH_MAX) {
    const reason = `a batch has at most ${BATCH_MAX} calls, not ${parsed.length}`;
    return errorText(null, invalidRequest(reason));
  }
  const answers = await Promise.all(parsed.map((call) => answerCall(call, respond)));
  const given = answers.filter((answer) => answer !== undefined);
  return given.length === 0 ? undefined : `[${given.join()}]`;
}

async function answerCall(call: unknown, respond: Respond): Promise<string | undefined> {
  const { id, method, params, jsonrpc } = (call ?? {}) as Record<string, unknown>;
  const isIdentified = typeof id === 'string' || typeof id === 'number' || id === null;
  if (typeof call !== 'object' || jsonrpc !== '2.0' || typeof method !== 'string') {
    return errorText(isIdentified ? id : null, invalidRequest('it is no call of JSON-RPC 2.0'));
  }
  if (id !== undefined && !isIdentified) {
    return errorText(null, invalidRequest('an id is a number, a text or null'));
  }
  try {
    const result = await respond(method, params);
    if (id === undefined) return undefined;
    return `{"jsonrpc":"2.0","result":${serialize(result)},"id":${JSON.stringify(id)}}`;
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return id === undefined ? undefined : errorText(id, error);
  }
}

function errorText(id: unknown, { code, message, data }: CallError): string {
  const error = { code, message, ...(data !== undefined && { data }) };
  return JSON.stringify({ jsonrpc: '2.0', error, id });
}

/**
 * Calls the method of a name.
 *
 * @param onFault called with fatal errors
 */
export function createResponder(context: RpcContext, onFault: OnFault): Respond {
  return async (name, params) => {
    const method = METHODS.get(name);
    if (!method) throw methodNotFound(name);
    try {
      return await method.answer(context, params);
    } catch (error) {
      throw toCallError(error, onFault);
    }
  };
}

function toCallError(error: unknown, onFault: OnFault): CallError {
  if (error instanceof CallError) return error;
  if (error instanceof StorageFullError) return nodeUnhealthy(error.message);
  if (error instanceof AccountRefusedError) return invalidParams(error.message);
  if (error instanceof AirdropError) return internalError(error.message);
  onFault(error as Error);
  const isExplained = error instanceof LedgerFilesError;
  return internalError(isExplained ? error.message : 'The ledger failed to answer');
}
