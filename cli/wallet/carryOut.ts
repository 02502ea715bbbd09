import type { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { describePayerShortage } from '../../common/payerShortage.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { type Refusal, refusalOf } from '../../programs/client/sender/index.ts';
import { simulate } from '../../programs/client/sender/simulate.ts';
import { confirm } from '../terminal/confirm.ts';
import { CommandError } from '../terminal/output.ts';
import { sendTransaction } from '../terminal/sendTransaction.ts';

/** Something that a wallet is asked to sign. */
export interface Change {
  readonly instructions: readonly TransactionInstruction[];
  /** The accounts by which its effect is described. */
  readonly watched: readonly PublicKey[];
  /** The effect in sentences. @param accounts the watched ones as the transaction would leave them */
  readonly describe: (accounts: readonly (Uint8Array | null)[]) => readonly string[];
}

/** Opening an account, its token account and a purchase together stay far below. */
const COMPUTE_UNITS_MAX = 100_000;

/**
 * Simulates a change, says its effect, asks unless its owner is sure, and sends it.
 *
 * @returns the transaction's signature, once it is confirmed
 * @throws CommandError when the ledger or the owner refuses it, or when it expires
 */
export async function carryOut(
  change: Change,
  options: { readonly rpc: Rpc; readonly wallet: Keypair; readonly isSure: boolean },
): Promise<string> {
  const { rpc, wallet, isSure } = options;
  const describe = async (refusal: Refusal): Promise<string> =>
    (await describePayerShortage(refusal, wallet.publicKey, rpc)) ??
    `The ledger refuses it: ${refusal.name}.`;

  const { instructions, watched } = change;
  const payer = wallet.publicKey;
  const { err, accounts } = await simulate(rpc, {
    ...{ payer, instructions, commitment: 'confirmed' },
    watched: watched.map((address) => address.toBase58()),
  });
  if (err) throw new CommandError(`${await describe(refusalOf(err))} Nothing was sent.`);
  for (const sentence of change.describe(accounts)) console.error(sentence);
  if (!isSure) await confirm('Send it?', 'Nothing was sent.');
  const sending = { payer: wallet, instructions, computeUnitLimit: COMPUTE_UNITS_MAX };
  return sendTransaction(rpc, sending, describe);
}
