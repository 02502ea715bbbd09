import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/** Pays out what a settlement or verdict could only note down; anybody may call it. */
export function claimPay(
  input: Deployment & {
    /** The CreditAccount, Worker or Treasury that is owed. */
    claimant: PublicKey;
    /** A worker's payout account; the other claimants are paid inside the program. */
    workerPayout?: PublicKey;
  },
): TransactionInstruction {
  return buildInstruction('claim_pay', {
    ...input,
    payout: input.workerPayout ?? createAddresses(input.programId).treasuryVault,
  });
}
