import { z } from 'zod';
import type { Bank } from '../../bank/bank.ts';
import type { Commitment } from '../../bank/chain.ts';
import type { Faucet } from '../../bank/faucet.ts';
import { explainIssue } from './parameters.ts';

/** What a call is refused with, as JSON-RPC says it. */
export class CallError extends Error {
  override name = 'CallError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

// The codes are those of clusters' nodes.

export const parseError = () => new CallError(-32700, 'Parse error: the body is no JSON');
export const invalidRequest = (reason: string) =>
  new CallError(-32600, `Invalid request: ${reason}`);
export const methodNotFound = (method: string) =>
  new CallError(-32601, `Method not found: ${method}`);
export const invalidParams = (reason: string) => new CallError(-32602, `Invalid params: ${reason}`);
export const internalError = (message: string) => new CallError(-32603, message);
export const tooManySubscriptions = () =>
  internalError('Internal Error: Subscription refused. Node subscription limit reached');
export const preflightFailed = (message: string, data: object) =>
  new CallError(-32002, `Transaction simulation failed: ${message}`, data);
export const nodeUnhealthy = (reason: string) => new CallError(-32005, reason);
export const blockNotAvailable = (slot: number) =>
  new CallError(-32004, `Block not available for slot ${slot}`);
export const slotSkipped = (slot: number) =>
  new CallError(
    -32007,
    `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`,
  );
export const versionUnsupported = (version: number) =>
  new CallError(
    -32015,
    `Transaction version (${version}) is not supported by the requesting client. Please try the ` +
      'request again with the following configuration parameter: ' +
      `"maxSupportedTransactionVersion": ${version}`,
  );
const minContextSlotNotReached = (contextSlot: number) =>
  new CallError(-32016, 'Minimum context slot has not been reached', { contextSlot });

/** The context of every method. */
export interface RpcContext {
  readonly bank: Bank;
  readonly faucet: Faucet;
  readonly genesisHash: string;
  /** Enables the development methods, which write accounts and move the Clock. */
  readonly isDevelopment: boolean;
  /** Whether blocks are final as by Alpenglow; before, a cluster needs 32 more slots. */
  readonly isAlpenglow: boolean;
}

export interface Method {
  /** @throws CallError */
  answer(context: RpcContext, params: unknown): unknown;
}

type Shape = Readonly<Record<string, z.ZodType>>;
type Parsed<Parameters extends Shape> = { [Name in keyof Parameters]: z.output<Parameters[Name]> };

/**
 * A method with parameters by position, in the order given here. Trailing ones may be omitted where
 * their schema allows it.
 */
export function method<Parameters extends Shape>(
  parameters: Parameters,
  run: (context: RpcContext, parsed: Parsed<Parameters>) => unknown,
): Method {
  const names = Object.keys(parameters);
  const schemas = Object.values(parameters);
  return {
    answer(context, params) {
      const given = expectList(params);
      if (given.length > schemas.length) {
        throw invalidParams(`${given.length} given, of ${schemas.length} at most`);
      }
      const parsed: Record<string, unknown> = {};
      for (const [index, schema] of schemas.entries()) {
        const result = schema.safeParse(given[index]);
        const name = names[index] as string;
        if (!result.success) {
          const { issues } = result.error;
          const error = new z.ZodError(
            issues.map((issue) => ({ ...issue, path: [index, ...issue.path] })),
          );
          throw invalidParams(explainIssue(error, names));
        }
        parsed[name] = result.data;
      }
      return run(context, parsed as Parsed<Parameters>);
    },
  };
}

/** A method that answers with a state of the ledger, and with the slot of that. */
export function stateMethod<Parameters extends Shape & { config: z.ZodType<Reading> }>(
  parameters: Parameters,
  read: (
    context: RpcContext,
    parsed: Parsed<Parameters>,
    as: { readonly commitment: Commitment; readonly slot: number },
  ) => unknown,
): Method {
  return method(parameters, (context, parsed) => {
    const as = contextOf(context, parsed.config as Reading);
    return withContext(as.slot, read(context, parsed, as));
  });
}

function expectList(params: unknown): readonly unknown[] {
  if (params === undefined || params === null) return [];
  if (Array.isArray(params)) return params;
  throw invalidParams('they are given by position, as an array');
}

interface Reading {
  readonly commitment?: Commitment | undefined;
  readonly minContextSlot?: number | undefined;
}

/** The slot of the requested commitment. @throws CallError when the context slot is not reached */
export function contextOf(
  { bank }: RpcContext,
  { commitment = 'finalized', minContextSlot = 0 }: Reading = {},
): { commitment: Commitment; slot: number } {
  const slot = bank.slot(commitment);
  if (slot < minContextSlot) throw minContextSlotNotReached(slot);
  return { commitment, slot };
}

/** An answer with its slot. */
export function withContext(slot: number, value: unknown): object {
  return { context: { apiVersion: SOLANA_VERSION, slot }, value };
}

/** The release of Solana with the same behaviour. */
export const SOLANA_VERSION = '3.0.0';
