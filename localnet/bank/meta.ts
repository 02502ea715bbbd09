import { base58 } from '@scure/base';
import type { Execution, InnerInstruction } from '../runtime/runtime.ts';
import { addressText } from '../wire/addressText.ts';
import { exact } from '../wire/json.ts';
import type { LoadedAddresses } from './lookupTables.ts';
import type { TokenBalance } from './tokenBalances.ts';

/** What a transaction found and left. */
export interface Effects {
  readonly fee: bigint;
  /** Lamports by account, before and after. */
  readonly lamports: readonly [before: readonly bigint[], after: readonly bigint[]];
  readonly tokens: readonly [before: TokenBalance[], after: TokenBalance[]];
  readonly loaded: LoadedAddresses;
}

/** A transaction's `meta`, as clusters tell it. */
export function metaOf(execution: Execution, effects: Effects): object {
  const { err, logs, innerInstructions, computeUnits, returnData } = execution;
  return {
    computeUnitsConsumed: computeUnits,
    err,
    fee: exact(effects.fee),
    innerInstructions: innerInstructionsOf(innerInstructions),
    loadedAddresses: {
      readonly: effects.loaded.readonly.map(addressText),
      writable: effects.loaded.writable.map(addressText),
    },
    logMessages: logs,
    postBalances: effects.lamports[1].map(exact),
    postTokenBalances: effects.tokens[1],
    preBalances: effects.lamports[0].map(exact),
    preTokenBalances: effects.tokens[0],
    ...(returnData !== null && { returnData: returnDataOf(returnData) }),
    rewards: [],
    status: err === null ? { Ok: null } : { Err: err },
  };
}

/** Only instructions that called others are listed. */
export function innerInstructionsOf(
  byInstruction: readonly (readonly InnerInstruction[])[],
): object[] {
  return byInstruction.flatMap((calls, index) => {
    if (calls.length === 0) return [];
    const instructions = calls.map(({ programIdIndex, accounts, data, stackHeight }) => ({
      programIdIndex,
      accounts: [...accounts],
      data: base58.encode(data),
      stackHeight,
    }));
    return [{ index, instructions }];
  });
}

export function returnDataOf(returned: NonNullable<Execution['returnData']>): object {
  return {
    programId: addressText(returned.programId),
    data: [Buffer.from(returned.data).toString('base64'), 'base64'],
  };
}
