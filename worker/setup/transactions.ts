import type { Connection, Keypair, TransactionInstruction } from '@solana/web3.js';
import { describePayerShortage } from '../../common/payerShortage.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/index.ts';
import { sendOnce } from '../../programs/client/sender/sendOnce.ts';
import { SetupError } from './setupError.ts';

/** Registration, stake and several models together stay far below. */
const COMPUTE_UNITS_MAX = 400_000;

/**
 * Sends one transaction, signed and paid by one key.
 *
 * @param signers who signs besides
 * @returns its signature, once it is confirmed
 * @throws SetupError when the ledger refuses it, drops it or is away
 */
export async function sendTogether(
  connection: Connection,
  payer: Keypair,
  instructions: TransactionInstruction[],
  signers: readonly Keypair[] = [],
): Promise<string> {
  const sending = { payer, signers, instructions, computeUnitLimit: COMPUTE_UNITS_MAX };
  const outcome = await sendOnce(connection, sending).catch((error: unknown) => {
    if (!(error instanceof LedgerUnavailableError)) throw error;
    throw new SetupError(`${error.message}. Try again.`, { cause: error });
  });
  if (outcome.status === 'confirmed') return outcome.signature;
  if (outcome.status !== 'rejected') throw new SetupError('The ledger dropped it. Try again.');
  const shortage = await describePayerShortage(outcome.error, payer.publicKey, connection);
  throw new SetupError(
    shortage
      ? `${shortage} Send it some, and run this command again.`
      : `The ledger refused it: ${outcome.error.name}.`,
  );
}
