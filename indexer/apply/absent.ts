import { PublicKey } from '@solana/web3.js';

const NO_KEY = PublicKey.default.toBase58();

/** Accounts spell "none" as the zero key; the mirror spells it null. */
export function keyOrNull(key: string): string | null {
  return key === NO_KEY ? null : key;
}

/** Accounts spell "never" as second 0; the mirror spells it null. */
export function timeOrNull(unixSeconds: string): string | null {
  return unixSeconds === '0' ? null : unixSeconds;
}
