import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/** Takes out everything whose cooldown is over. */
export function stakeWithdraw(
  input: Deployment & {
    authority: PublicKey;
    /** A token account of the stake's mint. */
    destination: PublicKey;
  },
): TransactionInstruction {
  return buildInstruction('stake_withdraw', {
    ...input,
    worker: createAddresses(input.programId).worker(input.authority),
  });
}
