import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/** Opens the operator's Gateway: one spender for many wallets, with replaceable hot keys. */
export function gatewayOpen(
  input: Deployment & {
    /** Pays the rent. */
    payer: PublicKey;
    /** The cold key. */
    operator: PublicKey;
    /** 1 to 8 different keys. */
    signers: PublicKey[];
  },
): TransactionInstruction {
  return buildInstruction('gateway_open', {
    ...input,
    gateway: createAddresses(input.programId).gateway(input.operator),
  });
}
