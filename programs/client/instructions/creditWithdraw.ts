import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/** Turns available credits back into stablecoin. Locked credits stay until their jobs end. */
export function creditWithdraw(
  input: Deployment & {
    wallet: PublicKey;
    /** A stablecoin token account. */
    destination: PublicKey;
    credits: bigint;
  },
): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  return buildInstruction('credit_withdraw', {
    ...input,
    creditAccount: addresses.creditAccount(input.wallet),
  });
}
