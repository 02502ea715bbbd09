import { PublicKey, SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import { TOKEN_PROGRAM } from '../../../programs/client/addresses.ts';
import { PROGRAM_ID } from '../../../programs/client/index.ts';
import { addresses } from '../../../testing/indexer/scene.ts';
import { HOSTILE_PROGRAM_ID } from '../../../testing/ledger/hostileCaller.ts';

export const U32_MAX = 2 ** 32 - 1;
export const U64_MAX = 2n ** 64n - 1n;
export const I64_MAX = 2n ** 63n - 1n;
/** The program's own bounds, in `programs/escrow/src/limits.rs`. */
export const CREDITS_MAX = 10_000_000_000_000n;
export const STAKE_TOKENS_MAX = 10_000_000_000n;
export const MODELS_MAX = 16;

export const ONES = new Uint8Array(32).fill(0xff);
export const ZEROS = new Uint8Array(32);

/** As many keys as a Gateway takes, none of which anybody signs for. */
export const ODD_KEYS = [
  ...[new PublicKey(ONES), PROGRAM_ID, HOSTILE_PROGRAM_ID, TOKEN_PROGRAM, SYSVAR_CLOCK_PUBKEY],
  ...[addresses.eventAuthority, addresses.vaultAuthority, addresses.config],
];

/** From space to tilde: what the program takes for text. */
const PRINTABLE = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 0x20 + index));

/** Every printable character in turn, from one of them on. */
export function printable(length: number, from: number): string {
  return Array.from({ length }, (_, index) => PRINTABLE[(from + index) % PRINTABLE.length]).join(
    '',
  );
}

const ENDPOINT_LENGTH = 128;

/** Endpoints, as long as they may be, that a careless reader would trip over. */
export const ENDPOINTS = [
  printable(ENDPOINT_LENGTH, 0),
  // Ends with a backslash.
  printable(ENDPOINT_LENGTH, 28),
  '\\'.repeat(ENDPOINT_LENGTH),
  '"'.repeat(ENDPOINT_LENGTH),
  "'".repeat(ENDPOINT_LENGTH),
  ' '.repeat(ENDPOINT_LENGTH),
  // Not a NUL, which no database stores, but six characters that spell one.
  '\\u0000'.repeat(21).padEnd(ENDPOINT_LENGTH, '0'),
  `'); drop schema mirror cascade; --`.padEnd(ENDPOINT_LENGTH, '$'),
];
