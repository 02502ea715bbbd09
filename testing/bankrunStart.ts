import { TOKEN_PROGRAM_ID } from '@solana/spl-token';
import { type PublicKey, TransactionInstruction, VersionedTransaction } from '@solana/web3.js';
import type { AddedAccount, ProgramTestContext, start as startChain } from 'solana-bankrun';
import { PROGRAM_ID } from '../programs/client/index.ts';
import { signTransaction } from '../programs/client/sender/transaction.ts';

type Start = typeof startChain;

const CHAINS_MAX = 3;
/** What the runtime says of a program that it could not load; no program answers an empty call so. */
const NOT_LOADED = 'Error processing Instruction 0: invalid account data for instruction';

/**
 * Starts a chain on which the programs that tests call can be called. Now and then, on a busy
 * machine, solana-bankrun does not get a program loaded, and holds on to that: each call of it is
 * refused for as long as the chain is there. No test learns anything from such a chain.
 */
export async function startLoaded(
  start: Start,
  accounts: AddedAccount[],
): Promise<ProgramTestContext> {
  const unloaded: string[] = [];
  for (let started = 1; started <= CHAINS_MAX; started += 1) {
    const context = await start([], accounts);
    const refusal = await refusalToCall(context, [PROGRAM_ID, TOKEN_PROGRAM_ID]);
    if (refusal === null) return context;
    unloaded.push(refusal);
  }
  throw new Error(`solana-bankrun cannot call the program:\n${unloaded.join('\n')}`);
}

/** Calls programs without any data, and leaves no trace: what they answer tells that they run. */
async function refusalToCall(
  { banksClient, lastBlockhash, payer }: ProgramTestContext,
  programIds: readonly PublicKey[],
): Promise<string | null> {
  for (const programId of programIds) {
    const { bytes } = signTransaction({
      instructions: [new TransactionInstruction({ programId, keys: [] })],
      feePayer: payer,
      signers: [],
      blockhash: lastBlockhash,
      lookup: undefined,
    });
    const { result, meta } = await banksClient.simulateTransaction(
      VersionedTransaction.deserialize(bytes),
    );
    if (result === NOT_LOADED) return meta?.logMessages.join('\n') ?? result;
  }
  return null;
}
