import type { Keypair, TransactionInstruction } from '@solana/web3.js';
import { describePayerShortage } from '../../common/payerShortage.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/index.ts';
import { sendOnce } from '../../programs/client/sender/sendOnce.ts';
import { SetupError } from './setupError.ts';

/** Registration, stake and several models together stay far below. */
const COMPUTE_UNITS_MAX = 400_000;
/** A machine that stands still for the life of a blockhash does so once. */
const TRIES_MAX = 3;

/**
 * Sends one transaction, signed and paid by one key. One that expired never lands, so another takes
 * its place.
 *
 * @param signers who signs besides
 * @returns its signature, once it has landed
 * @throws SetupError when the ledger refuses it, drops it or is away
 */
export async function sendTogether(
  rpc: Rpc,
  payer: Keypair,
  instructions: readonly TransactionInstruction[],
  signers: readonly Keypair[] = [],
): Promise<string> {
  const sending = { payer, signers, instructions, computeUnitLimit: COMPUTE_UNITS_MAX };
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const outcome = await sendOnce(rpc, sending).catch((error: unknown) => {
      if (!(error instanceof LedgerUnavailableError)) throw error;
      throw new SetupError(`${error.message}. Try again.`, { cause: error });
    });
    if (outcome.status === 'landed') return outcome.signature;
    if (outcome.status === 'expired') continue;
    const shortage = await describePayerShortage(outcome.error, payer.publicKey, rpc);
    throw new SetupError(
      shortage
        ? `${shortage} Send it some, and run this command again.`
        : `The ledger refused it: ${outcome.error.name}.`,
    );
  }
  throw new SetupError(`The ledger dropped it ${TRIES_MAX} times. Try again.`);
}
