import type { TransactionInstruction } from '@solana/web3.js';
import { PublicKey } from '#platform';
import type { Commitment } from '../rpc/methods.ts';
import type { LedgerNode } from '../rpc/rpc.ts';
import { type Refusal, refusalOf } from '../sender/sendResult.ts';
import { simulate } from '../sender/simulate.ts';

/** Something that a wallet is asked to sign. */
export interface Plan {
  /** In the imperative, such as "Buy 5,000 credits". */
  readonly title: string;
  /** The address that signs and pays the fee. */
  readonly signer: string;
  readonly instructions: readonly TransactionInstruction[];
  /** The mint of the stablecoin that it moves; absent where it moves none. */
  readonly creditMint?: string;
  /** Addresses of the accounts that `describe` needs; none by default. */
  readonly watched?: readonly string[];
  /** The effect in sentences. @param accounts the watched ones as the transaction would leave them */
  readonly describe: (accounts: readonly (Uint8Array | null)[]) => readonly string[];
}

type Preview =
  | { readonly accepted: true; readonly effects: readonly string[] }
  | { readonly accepted: false; readonly refusal: Refusal };

/**
 * Simulates a plan on the ledger: what it would do at present, or why the ledger would refuse it.
 *
 * @throws RpcError, NoAnswerError when the node gives no result
 */
export async function preview(
  { signer, instructions, watched = [], describe }: Plan,
  { rpc, commitment }: { readonly rpc: LedgerNode; readonly commitment: Commitment },
): Promise<Preview> {
  const payer = new PublicKey(signer);
  const { err, accounts } = await simulate(rpc, { payer, instructions, watched, commitment });
  return err === null
    ? { accepted: true, effects: describe(accounts) }
    : { accepted: false, refusal: refusalOf(err) };
}
