import type { AccountMeta, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createInstruction } from '#platform';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  findAddress,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from '../addresses.ts';
import { concatBytes, littleEndian } from '../platform/bytes.ts';

/** The token program's instructions that are sent here, by the number that each begins with. */
const INSTRUCTIONS = {
  transfer: 3,
  approve: 4,
  mintTo: 7,
  closeAccount: 9,
  initializeMint2: 20,
} as const;

const CREATE_IDEMPOTENT = Uint8Array.of(1);
const NO_FREEZE_AUTHORITY = Uint8Array.of(0);

/** Where an owner keeps tokens of a mint unless he says otherwise. */
export function associatedTokenAddress(
  mint: PublicKey,
  owner: PublicKey,
  tokenProgram: PublicKey = TOKEN_PROGRAM,
): PublicKey {
  const seeds = [owner, tokenProgram, mint].map((key) => key.toBytes());
  return findAddress(seeds, ASSOCIATED_TOKEN_PROGRAM);
}

/** Creates an owner's associated token account, and does nothing where there is one. */
export function tokenAccountCreate(fields: {
  payer: PublicKey;
  owner: PublicKey;
  mint: PublicKey;
}): TransactionInstruction {
  const { payer, owner, mint } = fields;
  return createInstruction({
    programId: ASSOCIATED_TOKEN_PROGRAM,
    keys: [
      { pubkey: payer, isSigner: true, isWritable: true },
      writable(associatedTokenAddress(mint, owner)),
      ...[owner, mint, SYSTEM_PROGRAM, TOKEN_PROGRAM].map(readonly),
    ],
    data: CREATE_IDEMPOTENT,
  });
}

/** Makes a new account a mint without a freeze authority. */
export function mintInitialize(fields: {
  mint: PublicKey;
  authority: PublicKey;
  decimals: number;
}): TransactionInstruction {
  const { mint, authority, decimals } = fields;
  const settings = concatBytes(Uint8Array.of(decimals), authority.toBytes(), NO_FREEZE_AUTHORITY);
  return tokenInstruction('initializeMint2', [writable(mint)], settings);
}

/** Mints new tokens into a token account. */
export function tokenMintTo(fields: {
  mint: PublicKey;
  account: PublicKey;
  authority: PublicKey;
  baseUnits: bigint;
}): TransactionInstruction {
  const { mint, account, authority, baseUnits } = fields;
  const keys = [writable(mint), writable(account), signing(authority)];
  return tokenInstruction('mintTo', keys, littleEndian(baseUnits, 8));
}

/** Any instruction of the token program: its accounts, and its data behind its number. */
export function tokenInstruction(
  name: keyof typeof INSTRUCTIONS,
  keys: AccountMeta[],
  data: Uint8Array = new Uint8Array(),
): TransactionInstruction {
  const numbered = concatBytes(Uint8Array.of(INSTRUCTIONS[name]), data);
  return createInstruction({ programId: TOKEN_PROGRAM, keys, data: numbered });
}

const account =
  (isSigner: boolean, isWritable: boolean) =>
  (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner, isWritable });
export const readonly = account(false, false);
export const writable = account(false, true);
export const signing = account(true, false);
