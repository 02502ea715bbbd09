import { type Connection, LAMPORTS_PER_SOL, type PublicKey } from '@solana/web3.js';
import type { Refusal } from '../programs/client/sender/index.ts';

/** Down to the lamport. */
const SOL_DECIMALS = 9;

/**
 * Says that a transaction was refused because its first signer, who pays the fee, cannot. The
 * ledger's word for it names no account, so the balance is looked at before anybody is blamed.
 *
 * @returns undefined when the cause lies elsewhere, or cannot be told
 */
export async function payerTrouble(
  { name }: Refusal,
  payer: PublicKey,
  connection: Connection,
): Promise<string | undefined> {
  const isShort = name === 'InsufficientFundsForFee' || name === 'InsufficientFundsForRent';
  if (!isShort && name !== 'AccountNotFound') return undefined;
  // The refusal is what has to be told, whatever becomes of this question.
  const lamports = await connection.getBalance(payer).catch(() => undefined);
  const who = `The first signer, ${payer}, pays the fee and has`;
  if (lamports === 0) return `${who} no SOL.`;
  if (lamports === undefined || !isShort) return undefined;
  const sol = (lamports / LAMPORTS_PER_SOL).toFixed(SOL_DECIMALS);
  return name === 'InsufficientFundsForFee'
    ? `${who} only ${sol} SOL.`
    : `${who} only ${sol} SOL: less would be left than an account must hold.`;
}
