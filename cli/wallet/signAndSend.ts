import type { Keypair } from '@solana/web3.js';
import { describePayerShortage } from '../../common/payerShortage.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import type { Refusal } from '../../programs/client/sender/index.ts';
import { type Plan, preview } from '../../programs/client/wallet/plan.ts';
import { refusalSentence } from '../../programs/client/wallet/refusals.ts';
import { confirm } from '../terminal/confirm.ts';
import { CommandError } from '../terminal/output.ts';
import { sendTransaction } from '../terminal/sendTransaction.ts';

/** Opening an account, its token account and a purchase together stay far below. */
const COMPUTE_UNITS_MAX = 100_000;

/**
 * Simulates a plan, prints its effect, asks unless the owner is sure, signs it and sends it.
 *
 * @returns the transaction's signature, once it is confirmed
 * @throws CommandError when the ledger or the owner refuses it, or when it expires
 */
export async function signAndSend(
  plan: Plan,
  options: { readonly rpc: Rpc; readonly wallet: Keypair; readonly isSure: boolean },
): Promise<string> {
  const { rpc, wallet, isSure } = options;
  const describe = async (refusal: Refusal): Promise<string> =>
    (await describePayerShortage(refusal, wallet.publicKey, rpc)) ??
    refusalSentence(refusal, plan.creditMint);

  const simulated = await preview(plan, { rpc, commitment: 'confirmed' });
  if (!simulated.accepted) {
    throw new CommandError(`${await describe(simulated.refusal)} Nothing was sent.`);
  }
  for (const sentence of simulated.effects) console.error(sentence);
  if (!isSure) await confirm('Send it?', 'Nothing was sent.');
  const { instructions } = plan;
  const sending = { payer: wallet, instructions, computeUnitLimit: COMPUTE_UNITS_MAX };
  return sendTransaction(rpc, sending, describe);
}
