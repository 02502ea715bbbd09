import type { Keypair, TransactionInstruction } from '@solana/web3.js';
import type { Rpc } from '../rpc/rpc.ts';
import { createSender, type SenderLog } from './sender.ts';
import type { SendResult } from './sendResult.ts';

/** The caller waits for the result and needs no log. */
const SILENT: SenderLog = { warn: () => undefined, error: () => undefined };

/**
 * Sends one transaction from a command, by a sender that lives no longer, and waits until it has
 * landed, failed or expired.
 *
 * @param sending.payer signs, and pays the fee
 * @throws LedgerUnavailableError when its end is not known
 */
export async function sendOnce(
  rpc: Rpc,
  sending: {
    readonly payer: Keypair;
    readonly signers?: readonly Keypair[];
    readonly instructions: readonly TransactionInstruction[];
    readonly computeUnitLimit: number;
  },
): Promise<SendResult> {
  const { payer, signers = [], instructions, computeUnitLimit } = sending;
  const sender = createSender({ rpc, feePayers: [payer], commitment: 'confirmed', logger: SILENT });
  try {
    return await sender.send({ instructions, signers, computeUnitLimit });
  } finally {
    sender.close();
  }
}
