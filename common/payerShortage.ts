import { LAMPORTS_PER_SOL, type PublicKey } from '@solana/web3.js';
import { getBalance } from '../programs/client/rpc/methods.ts';
import type { LedgerNode } from '../programs/client/rpc/rpc.ts';

/** One lamport is 10^-9 SOL. */
const SOL_DECIMALS = 9;

/**
 * A sentence when a transaction was refused because its first signer cannot pay the fee. The ledger's
 * error names no account, so the signer's balance decides.
 *
 * @param refusal by the ledger's name of the error
 * @returns undefined when the cause is another, or unknown
 */
export async function describePayerShortage(
  { name }: { readonly name: string },
  payer: PublicKey,
  rpc: LedgerNode,
): Promise<string | undefined> {
  const isShort = name === 'InsufficientFundsForFee' || name === 'InsufficientFundsForRent';
  if (!isShort && name !== 'AccountNotFound') return undefined;
  // A failed reading must not hide the refusal.
  const asked = getBalance(rpc, payer.toBase58(), { commitment: 'confirmed' });
  const lamports = await asked.catch(() => undefined);
  const who = `The first signer, ${payer}, pays the fee and has`;
  if (lamports === 0) return `${who} no SOL.`;
  if (lamports === undefined || !isShort) return undefined;
  const sol = (lamports / LAMPORTS_PER_SOL).toFixed(SOL_DECIMALS);
  return name === 'InsufficientFundsForFee'
    ? `${who} only ${sol} SOL.`
    : `${who} only ${sol} SOL: less would be left than an account must hold.`;
}
