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
