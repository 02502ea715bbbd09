import { z } from 'zod';
import type { Bank } from '../bank/bank.ts';
import type { Commitment } from '../bank/commitment.ts';
import type { Faucet } from '../faucet.ts';
import { explainIssue } from './parameters.ts';
import { invalidParams, minContextSlotNotReached } from './rpcError.ts';

/** What every method works on. */
export interface RpcContext {
  readonly bank: Bank;
  readonly faucet: Faucet;
  readonly genesisHash: string;
  /** Whether it was started for development: accounts may be written, the Clock moved. */
  readonly isDevelopment: boolean;
}

export interface Method {
  /** @throws RpcError */
  answer(context: RpcContext, params: unknown): unknown;
}

type Shape = Readonly<Record<string, z.ZodType>>;
type Parsed<Parameters extends Shape> = { [Name in keyof Parameters]: z.output<Parameters[Name]> };

/**
 * A method that takes its parameters by position, in the order in which they are written here.
 * Trailing ones may be left out where their schema allows it.
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

function expectList(params: unknown): readonly unknown[] {
  if (params === undefined || params === null) return [];
  if (Array.isArray(params)) return params;
  throw invalidParams('they are given by position, as an array');
}

interface Reading {
  readonly commitment?: Commitment | undefined;
  readonly minContextSlot?: number | undefined;
}

/** The commitment that is asked for, as of which slot. @throws RpcError when it is not reached */
export function contextOf(
  { bank }: RpcContext,
  { commitment = 'finalized', minContextSlot = 0 }: Reading = {},
): { commitment: Commitment; slot: number } {
  const slot = bank.slot(commitment);
  if (slot < minContextSlot) throw minContextSlotNotReached(slot);
  return { commitment, slot };
}

/** An answer with the slot that it is of. */
export function withContext(slot: number, value: unknown): object {
  return { context: { apiVersion: SOLANA_VERSION, slot }, value };
}

/** The release of Solana whose behaviour this is. */
export const SOLANA_VERSION = '3.0.0';
