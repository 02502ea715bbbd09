import { base64 } from '@scure/base';
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { simulateTransaction } from '../../programs/client/rpc/methods.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { LedgerUnavailableError, type Refusal } from '../../programs/client/sender/index.ts';
import { sendOnce } from '../../programs/client/sender/sendOnce.ts';
import {
  compileMessage,
  encodeMessage,
  encodeTransaction,
  SIGNATURE_BYTES,
} from '../../programs/client/wire/index.ts';
import { CommandError } from './output.ts';

/**
 * Sends one transaction.
 *
 * @param describe says in a sentence why the ledger refused it
 * @returns its signature, once it is confirmed
 * @throws CommandError which says whether anything was changed, as far as that is known
 */
export async function sendTransaction(
  rpc: Rpc,
  sending: Parameters<typeof sendOnce>[1],
  describe: (refusal: Refusal) => Promise<string>,
): Promise<string> {
  const outcome = await sendOnce(rpc, sending).catch((error: unknown) => {
    if (!(error instanceof LedgerUnavailableError)) throw error;
    const fate = error.signature && ` Look up ${error.signature} before sending it again.`;
    throw new CommandError(`${error.message}.${fate ?? ' Nothing was sent.'}`, { cause: error });
  });
  if (outcome.status === 'landed') return outcome.signature;
  const why =
    outcome.status === 'failed'
      ? await describe(outcome.error)
      : 'It expired: the ledger dropped it.';
  throw new CommandError(`${why} Nothing was changed.`);
}

/**
 * What instructions would do at present, without a signature.
 *
 * @param options.watched the accounts to show as the transaction would leave them
 */
export function simulate(
  rpc: Rpc,
  options: {
    readonly payer: PublicKey;
    readonly instructions: readonly TransactionInstruction[];
    readonly watched: readonly PublicKey[];
  },
): ReturnType<typeof simulateTransaction> {
  const { payer, instructions, watched } = options;
  // The node replaces the blockhash.
  const compiled = compileMessage({
    version: 'legacy',
    instructions,
    feePayer: payer,
    blockhash: PublicKey.default.toBytes(),
  });
  const signatures = compiled.signers.map(() => new Uint8Array(SIGNATURE_BYTES));
  const wire = encodeTransaction(compiled, encodeMessage(compiled), signatures);
  return simulateTransaction(rpc, base64.encode(wire), {
    commitment: 'confirmed',
    accounts: watched.map((address) => address.toBase58()),
  });
}
