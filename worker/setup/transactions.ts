import type { Connection, Keypair, TransactionInstruction } from '@solana/web3.js';
import { createLogger } from '../../common/logger.ts';
import { connectRpc } from '../../programs/client/rpc/connectRpc.ts';
import { createSender, LedgerUnavailableError } from '../../programs/client/sender/index.ts';
import { SetupError } from './setupError.ts';

/** Registration, stake and several models together stay far below. */
const COMPUTE_UNITS_MAX = 400_000;

/**
 * Sends one transaction, signed and paid by one key.
 *
 * @returns its signature, once it is confirmed
 * @throws SetupError when the ledger refuses it, drops it or is away
 */
export async function sendTogether(
  connection: Connection,
  payer: Keypair,
  instructions: TransactionInstruction[],
): Promise<string> {
  const sender = createSender({
    rpc: connectRpc({ url: connection.rpcEndpoint }),
    feePayers: [payer],
    commitment: 'confirmed',
    logger: createLogger({ name: 'svc-cli', level: 'silent' }),
  });
  try {
    const outcome = await sender.send({
      instructions,
      signers: [],
      computeUnitLimit: COMPUTE_UNITS_MAX,
    });
    if (outcome.status === 'confirmed') return outcome.signature;
    if (outcome.status !== 'rejected') throw new SetupError('The ledger dropped it. Try again.');
    throw new SetupError(`The ledger refused it: ${outcome.error.name}.`);
  } catch (error) {
    if (!(error instanceof LedgerUnavailableError)) throw error;
    throw new SetupError(`${error.message}. Try again.`, { cause: error });
  } finally {
    sender.close();
  }
}
