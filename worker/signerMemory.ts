import type { PublicKey } from '@solana/web3.js';

/** The keys whose jobs lately passed the ledger's check, and none since failed it. */
export interface SignerMemory {
  has(signer: PublicKey): boolean;
  add(signer: PublicKey): void;
  forget(signer: PublicKey): void;
}

/** A worker serves a handful of gateways, and now and then a wallet that comes by itself. */
const SIGNERS_MAX = 256;

/**
 * Anybody can sign a request; only a key seen before makes the engine start ahead of the ledger's
 * answer, so that strangers cannot make it work for nothing. The memory permits nothing by itself.
 */
export function createSignerMemory(): SignerMemory {
  const signers = new Set<string>();
  return {
    has: (signer) => signers.has(signer.toBase58()),
    add(signer) {
      const key = signer.toBase58();
      signers.delete(key);
      signers.add(key);
      const [oldest] = signers;
      if (signers.size > SIGNERS_MAX && oldest !== undefined) signers.delete(oldest);
    },
    forget: (signer) => void signers.delete(signer.toBase58()),
  };
}
