import type { AccountMeta, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createInstruction } from '#platform';
import {
  type Addresses,
  createAddresses,
  PROGRAM_ID,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from './addresses.ts';
import { IDL, wordsOf } from './codec.ts';
import { camelCase, type FieldType, type InstructionInterface } from './interface.ts';
import { lookUp } from './keys.ts';
import { concatBytes, littleEndian, utf8 } from './platform/bytes.ts';

/** How an argument becomes bytes (Borsh), and what it can hold. */
interface Encoder {
  /** The accepted values in words, for an error. */
  readonly takes: string;
  readonly isFit: (value: unknown) => boolean;
  /** To be called with a fit value. */
  readonly encode: (value: never) => Uint8Array;
}

/** @throws Error for a type that the program's interface did not have so far */
function encoderOf(type: FieldType): Encoder {
  const known = typeof type === 'string' ? SIMPLE[type] : compoundOf(type);
  if (known !== undefined) return known;
  throw new Error(`The interface has an argument of an unknown type: ${JSON.stringify(type)}`);
}

interface Key {
  toBytes(): Uint8Array;
}

/** Checks the methods, since the caller's web3.js may be another copy. */
const isKey = (value: unknown): boolean =>
  typeof (value as { toBytes?: unknown } | null)?.toBytes === 'function';

function unsigned(bytes: number): Encoder {
  const max = 2 ** (8 * bytes) - 1;
  return {
    takes: `a whole number from 0 to ${max}`,
    isFit: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max,
    encode: (value: number) => littleEndian(BigInt(value), bytes),
  };
}

const SIMPLE: Readonly<Record<string, Encoder>> = {
  u8: unsigned(1),
  u16: unsigned(2),
  u32: unsigned(4),
  u64: {
    takes: 'a bigint from 0 to 2^64 - 1',
    isFit: (value) => typeof value === 'bigint' && value === BigInt.asUintN(64, value),
    encode: (value: bigint) => littleEndian(value, 8),
  },
  i64: {
    takes: 'a bigint from -2^63 to 2^63 - 1',
    isFit: (value) => typeof value === 'bigint' && value === BigInt.asIntN(64, value),
    encode: (value: bigint) => littleEndian(value, 8),
  },
  bool: {
    takes: 'true or false',
    isFit: (value) => typeof value === 'boolean',
    encode: (value: boolean) => Uint8Array.of(value ? 1 : 0),
  },
  string: {
    takes: 'a string',
    isFit: (value) => typeof value === 'string',
    encode: (value: string) => {
      const text = utf8(value);
      return concatBytes(littleEndian(BigInt(text.length), 4), text);
    },
  },
  pubkey: { takes: 'a PublicKey', isFit: isKey, encode: (value: Key) => value.toBytes() },
};

function compoundOf(type: Exclude<FieldType, string>): Encoder | undefined {
  if ('defined' in type) return enumerationOf(type.defined.name);
  if ('vec' in type && type.vec === 'pubkey') {
    return {
      takes: 'an array of PublicKey',
      isFit: (value) => Array.isArray(value) && value.every(isKey),
      encode: (keys: readonly Key[]) =>
        concatBytes(littleEndian(BigInt(keys.length), 4), ...keys.map((key) => key.toBytes())),
    };
  }
  if ('array' in type && type.array[0] === 'u8') {
    const [, length] = type.array;
    return {
      takes: `${length} bytes`,
      isFit: (value) => ArrayBuffer.isView(value) && value.byteLength === length,
      encode: (value: Uint8Array) => value,
    };
  }
  return undefined;
}

function enumerationOf(name: string): Encoder {
  const words = wordsOf(name);
  return {
    takes: `one of ${words.join(', ')}`,
    isFit: (value) => words.includes(value as string),
    encode: (value: string) => Uint8Array.of(words.indexOf(value)),
  };
}

/** The input of every builder for another deployment than this package's own. */
export interface Deployment {
  readonly programId?: PublicKey | undefined;
}

const interfaces = new Map(IDL.instructions.map((item) => [item.name, readInterface(item)]));

/** An instruction's accounts and arguments, with the names that they have here. */
function readInterface({ accounts, args, discriminator }: InstructionInterface) {
  return {
    discriminator: Uint8Array.from(discriminator),
    accounts: accounts.map(({ name, optional, signer, writable }) => ({
      field: camelCase(name),
      isOptional: optional ?? false,
      isSigner: signer ?? false,
      isWritable: writable ?? false,
    })),
    args: args.map(({ name, type }) => ({ field: camelCase(name), encoder: encoderOf(type) })),
  };
}

/**
 * Builds any instruction of the IDL, which gives the order of accounts, their flags and the
 * encoding. Accounts with only one possible address are filled in; an optional account that is
 * missing is given as the program's id, as Anchor does.
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
  return createInstruction({ programId, keys, data: concatBytes(item.discriminator, ...args) });
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
    systemProgram: SYSTEM_PROGRAM,
    tokenProgram: TOKEN_PROGRAM,
  };
}
