import {
  type Connection,
  type Keypair,
  PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { describePayerShortage } from '../../common/payerShortage.ts';
import { type Refusal, refusalOf } from '../../programs/client/sender/index.ts';
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
  options: { readonly connection: Connection; readonly wallet: Keypair; readonly isSure: boolean },
): Promise<string> {
  const { connection, wallet, isSure } = options;
  const describe = async (refusal: Refusal): Promise<string> =>
    (await describePayerShortage(refusal, wallet.publicKey, connection)) ??
    `The ledger refuses it: ${refusal.name}.`;

  const { err, accounts } = await simulate(connection, change, wallet.publicKey);
  if (err) throw new CommandError(`${await describe(refusalOf(err))} Nothing was sent.`);
  for (const sentence of change.describe(accounts)) console.error(sentence);
  if (!isSure) await confirm('Send it?', 'Nothing was sent.');
  return sendTransaction(
    connection,
    { payer: wallet, instructions: change.instructions, computeUnitLimit: COMPUTE_UNITS_MAX },
    describe,
  );
}

async function simulate(
  connection: Connection,
  { instructions, watched }: Change,
  payerKey: PublicKey,
) {
  const message = new TransactionMessage({
    payerKey,
    // The node replaces it.
    recentBlockhash: PublicKey.default.toBase58(),
    instructions: [...instructions],
  }).compileToV0Message();
  const { value } = await connection.simulateTransaction(new VersionedTransaction(message), {
    commitment: 'confirmed',
    sigVerify: false,
    replaceRecentBlockhash: true,
    accounts: { encoding: 'base64', addresses: watched.map((address) => address.toBase58()) },
  });
  const accounts = watched.map((_, index) => {
    const data = value.accounts?.[index]?.data;
    return data?.[0] === undefined ? null : Uint8Array.from(Buffer.from(data[0], 'base64'));
  });
  return { err: value.err, accounts };
}
