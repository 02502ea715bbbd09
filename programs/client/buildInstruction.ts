import type { Idl } from '@coral-xyz/anchor';
import {
  type AccountMeta,
  type PublicKey,
  SYSVAR_INSTRUCTIONS_PUBKEY,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js';
import { type Addresses, createAddresses, PROGRAM_ID, TOKEN_PROGRAM } from './addresses.ts';
import { camelCase, type FieldType, IDL } from './codec.ts';
import { encoderOf } from './encoders.ts';
import { lookUp } from './keyCache.ts';
import { concatBytes } from './platform/bytes.ts';

/** What every builder accepts besides its own: another deployment than this package's own. */
export interface Deployment {
  readonly programId?: PublicKey | undefined;
}

type Interface = Idl['instructions'][number];
/** The program's interface nests no accounts. */
type AccountInterface = Exclude<Interface['accounts'][number], { accounts: unknown }>;

const interfaces = new Map(IDL.instructions.map((item) => [item.name, readInterface(item)]));

/** An instruction's accounts and arguments, with the names that they have here. */
function readInterface({ accounts, args, discriminator }: Interface) {
  return {
    discriminator: Uint8Array.from(discriminator),
    accounts: (accounts as AccountInterface[]).map(({ name, optional, signer, writable }) => ({
      field: camelCase(name),
      isOptional: optional ?? false,
      isSigner: signer ?? false,
      isWritable: writable ?? false,
    })),
    args: args.map(({ name, type }) => ({
      field: camelCase(name),
      encoder: encoderOf(type as FieldType),
    })),
  };
}

/**
 * Builds any instruction of the IDL, which gives the order of accounts, their flags and the
 * encoding. Accounts with only one possible address are filled in; an optional account that is
 * missing is spelled as the program's id, as Anchor does.
 *
 * @param name the IDL's snake-case name
 * @param fields accounts and arguments by their camel-case names; more than needed is no harm
 * @throws RangeError when an argument is outside its type
 */
export function buildInstruction(name: string, fields: object): TransactionInstruction {
  const item = interfaces.get(name);
  if (item === undefined) throw new Error(`The program has no instruction ${name}`);
  const given = fields as Readonly<Record<string, unknown>>;
  const programId = (given.programId as PublicKey | undefined) ?? PROGRAM_ID;
  const fixed = onlyAddresses(programId);
  const find = (field: string): unknown => {
    const value = given[field] ?? fixed[field];
    if (value === undefined) throw new Error(`${name} needs ${field}`);
    return value;
  };
  const args = item.args.map(({ field, encoder }) => {
    const value = find(field);
    if (!encoder.isFit(value)) throw new RangeError(`${name}: ${field} takes ${encoder.takes}`);
    return encoder.encode(value as never);
  });
  const keys = item.accounts.map(({ field, isOptional, isSigner, isWritable }): AccountMeta => {
    const pubkey = isOptional ? (given[field] ?? programId) : find(field);
    return { pubkey: pubkey as PublicKey, isSigner, isWritable };
  });
  const data = Buffer.from(concatBytes(item.discriminator, ...args));
  return new TransactionInstruction({ programId, keys, data });
}

/** For each deployment in use: an instruction is built several times for each job. */
const fixedAddresses = new WeakMap<Addresses, Record<string, PublicKey>>();

/** The accounts that have only one possible address, by the names that the IDL gives them. */
function onlyAddresses(programId: PublicKey): Record<string, PublicKey> {
  const addresses = createAddresses(programId);
  return lookUp(fixedAddresses, addresses, () => listFixed(addresses));
}

function listFixed(addresses: Addresses): Record<string, PublicKey> {
  return {
    config: addresses.config,
    treasury: addresses.treasury,
    vaultAuthority: addresses.vaultAuthority,
    vault: addresses.vault,
    treasuryVault: addresses.treasuryVault,
    stakeVault: addresses.stakeVault,
    eventAuthority: addresses.eventAuthority,
    program: addresses.programId,
    systemProgram: SystemProgram.programId,
    tokenProgram: TOKEN_PROGRAM,
    instructionsSysvar: SYSVAR_INSTRUCTIONS_PUBKEY,
  };
}
