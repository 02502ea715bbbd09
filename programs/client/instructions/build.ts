import type { Idl } from '@coral-xyz/anchor';
import {
  type AccountMeta,
  type PublicKey,
  SYSVAR_INSTRUCTIONS_PUBKEY,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js';
import { type Addresses, createAddresses, PROGRAM_ID, TOKEN_PROGRAM } from '../addresses.ts';
import { coder, toCoder } from '../anchorCoder.ts';
import { camelCase, IDL, type Value } from '../codec.ts';
import { lookUp } from '../keyCache.ts';

type ArgumentType = Idl['instructions'][number]['args'][number]['type'];

const UNSIGNED_BITS: Readonly<Record<string, number>> = { u8: 8, u16: 16, u32: 32 };

/**
 * What an argument can hold. Of anything else Anchor's coder would take a part: no sign of a u64, no
 * fraction of a u32, no matter how many bytes.
 */
interface Bounds {
  readonly takes: string;
  readonly isFit: (value: unknown) => boolean;
}

/** @throws Error for a type that the program's interface did not have so far */
function boundsOf(type: ArgumentType): Bounds {
  if (typeof type === 'object') return boundsOfMany(type);
  const bits = UNSIGNED_BITS[type];
  if (bits !== undefined) {
    const max = 2 ** bits - 1;
    return {
      takes: `a whole number from 0 to ${max}`,
      isFit: (value) =>
        Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max,
    };
  }
  switch (type) {
    case 'u64':
      return {
        takes: 'a bigint from 0 to 2^64 - 1',
        isFit: (value) => typeof value === 'bigint' && value === BigInt.asUintN(64, value),
      };
    case 'i64':
      return {
        takes: 'a bigint from -2^63 to 2^63 - 1',
        isFit: (value) => typeof value === 'bigint' && value === BigInt.asIntN(64, value),
      };
    case 'bool':
      return { takes: 'true or false', isFit: (value) => typeof value === 'boolean' };
    case 'string':
      return { takes: 'a string', isFit: (value) => typeof value === 'string' };
    case 'pubkey':
      return { takes: 'a PublicKey', isFit: isPublicKey };
    default:
      throw new Error(`The program's interface has arguments of a new type: ${type}`);
  }
}

function boundsOfMany(type: Exclude<ArgumentType, string>): Bounds {
  if ('vec' in type && type.vec === 'pubkey') {
    return {
      takes: 'an array of PublicKey',
      isFit: (value) => Array.isArray(value) && value.every(isPublicKey),
    };
  }
  if ('array' in type && type.array[0] === 'u8') {
    const [, length] = type.array;
    return {
      takes: `${length} bytes`,
      isFit: (value) => ArrayBuffer.isView(value) && value.byteLength === length,
    };
  }
  throw new Error(`The program's interface has arguments of a new type: ${JSON.stringify(type)}`);
}

/** By what it can do: the caller's own web3.js may be another copy of it. */
function isPublicKey(value: unknown): boolean {
  return typeof (value as { toBuffer?: unknown } | null)?.toBuffer === 'function';
}

/** What every builder accepts besides its own: another deployment than this package's own. */
export type Deployment = { readonly programId?: PublicKey | undefined };

/** Who acts on a job: a key, or one of the hot signers of a Gateway (given by its address). */
export type Actor = { readonly signer: PublicKey; readonly gateway?: PublicKey | undefined };

type Interface = Idl['instructions'][number];
/** The program's interface nests no accounts. */
type AccountInterface = Exclude<Interface['accounts'][number], { accounts: unknown }>;

const interfaces = new Map(IDL.instructions.map((item) => [item.name, readInterface(item)]));

/** An instruction's accounts and arguments, with the names that they have here. */
function readInterface({ accounts, args }: Interface) {
  return {
    accounts: (accounts as AccountInterface[]).map(({ name, optional, signer, writable }) => ({
      field: camelCase(name),
      isOptional: optional ?? false,
      isSigner: signer ?? false,
      isWritable: writable ?? false,
    })),
    args: args.map(({ name, type }) => ({
      name,
      field: camelCase(name),
      bounds: boundsOf(type),
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
 * @param alsoSigns accounts that sign although the IDL does not demand it
 * @throws RangeError when an argument is outside its type
 */
export function buildInstruction(
  name: string,
  fields: Deployment & Readonly<Record<string, Value | undefined>>,
  alsoSigns: readonly string[] = [],
): TransactionInstruction {
  const item = interfaces.get(name);
  if (item === undefined) throw new Error(`The program has no instruction ${name}`);
  const programId = fields.programId ?? PROGRAM_ID;
  const fixed = onlyAddresses(programId);
  const find = (field: string): unknown => {
    const value = fields[field] ?? fixed[field];
    if (value === undefined) throw new Error(`${name} needs ${field}`);
    return value;
  };
  const args = item.args.map((arg) => {
    const value = find(arg.field);
    const { takes, isFit } = arg.bounds;
    if (!isFit(value)) throw new RangeError(`${name}: ${arg.field} takes ${takes}`);
    return [arg.name, toCoder(value as Value)];
  });
  const keys = item.accounts.map(({ field, isOptional, isSigner, isWritable }): AccountMeta => {
    const pubkey = isOptional ? (fields[field] ?? programId) : find(field);
    return {
      pubkey: pubkey as PublicKey,
      isSigner: isSigner || alsoSigns.includes(field),
      isWritable,
    };
  });
  const data = coder.instruction.encode(name, Object.fromEntries(args));
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
