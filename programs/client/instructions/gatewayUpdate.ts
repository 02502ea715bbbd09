import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/** Replaces a Gateway's hot signers and sets its stop flag, for all wallets at once. */
export function gatewayUpdate(
  input: Deployment & {
    /** The cold key. */
    operator: PublicKey;
    /** Up to 8; none revokes all. */
    signers: PublicKey[];
    /** Refuses locks only; running jobs go on. */
    stopped: boolean;
  },
): TransactionInstruction {
  return buildInstruction('gateway_update', {
    ...input,
    gateway: createAddresses(input.programId).gateway(input.operator),
  });
}
