import type { BlockLimits } from './bank/fees.ts';

/** How a ledger keeps time, what it charges, and what its blocks take. */
export interface Profile {
  /** Between two blocks. */
  readonly slotMs: number;
  /** After its end a block is confirmed and final at once; absent: by slots, as before Alpenglow. */
  readonly finalMs?: number;
  /** For how many slots after its own a blockhash is valid; absent: by time. */
  readonly blockhashSlots?: number;
  /** What an account needs for each of its bytes, to be rent-exempt; absent: the runtime's own. */
  readonly rentLamportsPerByte?: bigint;
  /** Absent: a block takes everything. */
  readonly limits?: BlockLimits;
  /** Whether a block may hold a transaction whose payer cannot pay (SIMD-0290). */
  readonly takesUnpaid: boolean;
}

export const PROFILE_NAMES = ['development', 'mainnet'] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

export const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  /** The shortest slot time without measurable cost: docs/localnet.md has the figures. */
  development: { slotMs: 5, takesUnpaid: false },
  /** As mainnet is in November 2026: docs/localnet.md has the sources. */
  mainnet: {
    slotMs: 200,
    finalMs: 150,
    blockhashSlots: 150,
    rentLamportsPerByte: 5_080n,
    limits: { blockUnits: 50_000_000, accountUnits: 20_000_000 },
    takesUnpaid: true,
  },
};
