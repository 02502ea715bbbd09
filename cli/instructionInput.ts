import { readFileSync } from 'node:fs';
import { base58 } from '@scure/base';
import {
  type AccountMeta,
  type Keypair,
  PublicKey,
  type TransactionInstruction,
} from '@solana/web3.js';
import { z } from 'zod';
import { IDL, type Value } from '../programs/client/codec.ts';
import * as builders from '../programs/client/instructions.ts';
import {
  camelCase,
  type FieldType,
  type InstructionInterface,
} from '../programs/client/interface.ts';
import { type SignedMessage, verifyHashed } from '../programs/client/proof.ts';
import { asCommandError } from './terminal/asCommandError.ts';
import { CommandError } from './terminal/output.ts';

/**
 * Parses a field of an instruction from the command line. The builders check its range.
 *
 * @param field its name, for the error
 * @param type its type in the IDL
 * @throws CommandError with the field's name and its type
 */
function parseValue(field: string, text: string, type: FieldType): Value {
  switch (type) {
    case 'string':
      return text;
    case 'pubkey':
      return parseAddress(field, text);
    case 'bool':
      if (text !== 'true' && text !== 'false')
        throw new CommandError(`${field} takes true or false.`);
      return text === 'true';
    case 'u64':
    case 'i64':
      return parseInteger(field, text);
    case 'u8':
    case 'u16':
    case 'u32':
      return Number(parseInteger(field, text));
    default:
      if (typeof type === 'string') throw new Error(`${field} has an unsupported type`);
      if ('defined' in type) return text;
      return 'vec' in type ? parseAddresses(field, text) : parseBytes(field, text);
  }
}

function parseAddress(field: string, text: string): PublicKey {
  try {
    return new PublicKey(text);
  } catch {
    throw new CommandError(`${field} takes an address.`);
  }
}

function parseInteger(field: string, text: string): bigint {
  if (!/^\d{1,20}$/.test(text)) throw new CommandError(`${field} takes a whole number.`);
  return BigInt(text);
}

function parseAddresses(field: string, text: string): PublicKey[] {
  return text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => parseAddress(field, part));
}

function parseBytes(field: string, text: string): Uint8Array {
  if (!/^(?:[0-9a-f]{2})+$/i.test(text)) throw new CommandError(`${field} takes bytes in hex.`);
  return Buffer.from(text, 'hex');
}

type Build = (fields: Record<string, unknown>) => TransactionInstruction;

/** Fields of the builders that are neither accounts nor arguments, but determine addresses. */
const ADDRESS_FIELDS: Readonly<Record<string, Readonly<Record<string, 'pubkey' | 'string'>>>> = {
  credit_buy: { wallet: 'pubkey' },
  job_lock: { wallet: 'pubkey', model_id: 'string' },
  model_retire: { model_id: 'string' },
  worker_host: { model_id: 'string' },
  worker_unhost: { model_id: 'string' },
};

/**
 * Builds an instruction from command-line words such as `spender=<address>`, with the names of the
 * program's reference. Addresses that follow from others are filled in.
 *
 * @param words `name=value`; a list is separated by commas, 32 bytes are hex
 * @param signer the default for every account that must sign
 * @param evidence what a verdict rests on, as `evidenceArguments` takes it
 * @throws CommandError with the name of the invalid or missing field
 */
export function buildInstruction(input: {
  name: string;
  words: readonly string[];
  signer: PublicKey | undefined;
  programId: PublicKey;
  evidence?: readonly SignedMessage[] | undefined;
}): TransactionInstruction {
  const { name, words, signer, programId, evidence = [] } = input;
  const item = IDL.instructions.find((candidate) => candidate.name === name);
  const build = (builders as unknown as Record<string, Build | undefined>)[camelCase(name)];
  if (!item || !build) {
    const names = IDL.instructions.map((candidate) => candidate.name).join(', ');
    throw new CommandError(`The program has no instruction ${name}. It has ${names}.`);
  }
  const types = fieldTypes(item);
  const named = parseWords(words, types, name);
  const explain = (error: Error) => describeFault(error, name, [...types.keys()]);
  const given = asCommandError(() => evidenceFields(name, evidence), explain);
  const fields: Record<string, unknown> = { programId, ...given };
  for (const account of item.accounts) {
    if (account.signer && signer) fields[camelCase(account.name)] = signer;
  }
  for (const [field, value] of named) fields[camelCase(field)] = value;
  const instruction = asCommandError(() => buildWhole(item, build, fields), explain);
  item.accounts.forEach((account, index) => {
    const { pubkey } = instruction.keys[index] as AccountMeta;
    const value = named.get(account.name);
    if (value instanceof PublicKey && !value.equals(pubkey)) {
      throw new CommandError(
        `${name}: ${account.name} follows from other fields: it is ${pubkey}.`,
      );
    }
  });
  return instruction;
}

/** The arguments that signed messages fill in. @throws Error for an instruction that takes none */
function evidenceFields(name: string, evidence: readonly SignedMessage[]): object {
  if (name === 'dispute_resolve') return builders.evidenceArguments(evidence);
  if (evidence.length === 0) return {};
  throw new Error(`${name} takes no --signed-message: dispute_resolve does`);
}

/** Every field that an instruction has, by its name in the reference. */
function fieldTypes({ name, accounts, args }: InstructionInterface): Map<string, FieldType> {
  return new Map<string, FieldType>([
    ...accounts.map((account) => [account.name, 'pubkey'] as const),
    ...Object.entries(ADDRESS_FIELDS[name] ?? {}),
    ...args.map((argument) => [argument.name, argument.type] as const),
  ]);
}

function parseWords(
  words: readonly string[],
  types: ReadonlyMap<string, FieldType>,
  name: string,
): Map<string, Value> {
  const values = new Map<string, Value>();
  for (const word of words) {
    const [, field, text] = /^([a-z][a-z0-9_]*)=(.*)$/s.exec(word) ?? [];
    if (!field || text === undefined) throw new CommandError(`'${word}' is not name=value.`);
    const type = types.get(field);
    if (!type) throw new CommandError(`${name} has no ${field}. ${seeFields(name)}`);
    values.set(field, parseValue(field, text, type));
  }
  return values;
}

/** Builds the instruction. The error names the field that an address lacks. */
function buildWhole(
  { name, args }: InstructionInterface,
  build: Build,
  fields: Record<string, unknown>,
): TransactionInstruction {
  let absent: string | undefined;
  const observed = new Proxy(fields, {
    get(target, field: string) {
      if (target[field] === undefined) absent = field;
      return target[field];
    },
  });
  try {
    return build(observed);
  } catch (error) {
    // A builder that copies its input reads no field that is missing.
    absent ??= args.map((argument) => camelCase(argument.name)).find((field) => !(field in fields));
    if ((error as Error).name !== 'TypeError' || absent === undefined) throw error;
    throw new Error(`${name} needs ${absent}`, { cause: error });
  }
}

/** Replaces a builder's field names in its error by those of the reference. */
function describeFault({ message }: Error, name: string, fields: readonly string[]): string {
  const reason = message
    .replace(/\b\w+\b/g, (word) => fields.find((field) => camelCase(field) === word) ?? word)
    .replace('a bigint', 'a whole number');
  return `${reason}. ${seeFields(name)}`;
}

const seeFields = (name: string) => `See docs/instructions/${name}.md for its fields.`;

/** The names of an instruction's accounts in the IDL, in order. */
export function accountNames(name: string): string[] {
  const item = IDL.instructions.find((candidate) => candidate.name === name);
  return item?.accounts.map((account) => account.name) ?? [];
}

/** The signers that an instruction requires and that are not given. */
export function missingSigners(
  instruction: TransactionInstruction,
  signers: readonly Keypair[],
): PublicKey[] {
  return instruction.keys
    .filter(({ isSigner }) => isSigner)
    .map(({ pubkey }) => pubkey)
    .filter((key) => !signers.some(({ publicKey }) => publicKey.equals(key)));
}

const signedMessageFile = z.strictObject({
  public_key: z.string(),
  message: z.string().regex(/^([0-9a-f]{2})+$/, 'takes hexadecimal digits in pairs'),
  signature: z.string(),
});

/**
 * Reads a file with one proof or receipt, signed over its sha256:
 * `{"public_key": base58, "message": hex, "signature": base58}`.
 *
 * @throws CommandError when it has another form, or the signature is not the key's
 */
export function readSignedMessage(path: string): SignedMessage {
  const { public_key, message, signature } = parseSignedMessage(path);
  const signed = {
    publicKey: readPart(path, 'public_key', () => new PublicKey(public_key)),
    message: new Uint8Array(Buffer.from(message, 'hex')),
    signature: readPart(path, 'signature', () => base58.decode(signature)),
  };
  if (verifyHashed(signed)) return signed;
  throw new CommandError(`${path}: the signature is not ${public_key}'s over this message.`);
}

function parseSignedMessage(path: string): z.infer<typeof signedMessageFile> {
  const content = readPart(path, 'the file', () => JSON.parse(readFileSync(path, 'utf8')));
  const { success, data, error } = signedMessageFile.safeParse(content);
  if (success) return data;
  const [issue] = error.issues;
  throw new CommandError(`${path}: ${issue?.path.join('.') || 'the file'}: ${issue?.message}.`);
}

function readPart<Value>(path: string, name: string, read: () => Value): Value {
  return asCommandError(read, ({ message }) => `${path}: ${name} cannot be read: ${message}.`);
}
