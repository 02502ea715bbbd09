import { type PublicKey, TransactionInstruction } from '@solana/web3.js';
import { IDL } from '../../../programs/client/index.ts';

/** What the IDL says about one account of an instruction. */
export interface AccountRole {
  name: string;
  signer?: boolean;
  writable?: boolean;
  optional?: boolean;
  address?: string;
  pda?: { seeds: { kind: string; value?: number[]; path?: string }[] };
}

/** The accounts of an instruction in order. */
export function rolesOf(name: string): AccountRole[] {
  const found = IDL.instructions.find((instruction) => instruction.name === name);
  if (found === undefined) throw new Error(`no instruction ${name}`);
  return found.accounts as AccountRole[];
}

/** The same instruction with other account metas or other data. */
export const withKeys = (
  instruction: TransactionInstruction,
  change: (keys: TransactionInstruction['keys']) => TransactionInstruction['keys'],
): TransactionInstruction =>
  new TransactionInstruction({
    programId: instruction.programId,
    keys: change(instruction.keys.map((key) => ({ ...key }))),
    data: instruction.data,
  });

export const withData = (
  instruction: TransactionInstruction,
  data: Uint8Array,
): TransactionInstruction =>
  new TransactionInstruction({
    programId: instruction.programId,
    keys: instruction.keys,
    data: Buffer.from(data),
  });

/** The same instruction with another account in the place that the IDL gives this name. */
export function withAccount(
  instruction: TransactionInstruction,
  name: string,
  pubkey: PublicKey,
): TransactionInstruction {
  const tag = instruction.data.subarray(0, 8);
  const own = IDL.instructions.find((item) => Buffer.from(item.discriminator).equals(tag));
  const index = rolesOf(own?.name ?? '').findIndex((role) => role.name === name);
  if (index < 0) throw new Error(`${own?.name} has no account ${name}`);
  return withKeys(instruction, (keys) =>
    keys.map((key, position) => (position === index ? { ...key, pubkey } : key)),
  );
}
