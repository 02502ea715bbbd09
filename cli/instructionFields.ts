import { type Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js';
import * as builders from '../programs/client/instructions/index.ts';
import { IDL } from '../programs/client/program.ts';
import { camelCase, type Value } from '../programs/client/values.ts';
import { CommandError } from './errors.ts';

type Build = (fields: Record<string, unknown>) => TransactionInstruction;

/**
 * Builds an instruction from words, as somebody types them: `spender=<address>`, by the names of
 * the program's reference. Addresses that follow from others are filled in.
 *
 * @param words `name=value`; a list is separated by commas, 32 bytes are hex
 * @param signer stands for every account that has to sign and is not named
 * @throws CommandError naming what is wrong or missing
 */
export function instructionFromWords(input: {
  name: string;
  words: readonly string[];
  signer: PublicKey | undefined;
  programId: PublicKey;
}): TransactionInstruction {
  const { name, words, signer, programId } = input;
  const item = IDL.instructions.find((candidate) => candidate.name === name);
  const build = (builders as unknown as Record<string, Build | undefined>)[camelCase(name)];
  if (!item || !build) {
    const names = IDL.instructions.map((candidate) => candidate.name).join(', ');
    throw new CommandError(`The program has no instruction ${name}. It has ${names}.`);
  }
  const fields: Record<string, unknown> = { programId };
  for (const account of item.accounts) {
    if ('signer' in account && account.signer && signer) fields[camelCase(account.name)] = signer;
  }
  for (const word of words) {
    const [, field, text] = /^([a-z][a-z0-9_]*)=(.*)$/s.exec(word) ?? [];
    if (!field || text === undefined) throw new CommandError(`'${word}' is not name=value.`);
    const type = item.args.find((argument) => argument.name === field)?.type;
    fields[camelCase(field)] = parseValue(field, text, type);
  }
  try {
    return build(fields);
  } catch (error) {
    // The builders speak of their own fields; here each goes by its name in the reference.
    const known = [...item.accounts, ...item.args].map((field) => field.name);
    const reason = (error as Error).message.replace(
      /\b\w+$/,
      (word) => known.find((field) => camelCase(field) === word) ?? word,
    );
    throw new CommandError(`${reason}. See docs/instructions/${name}.md for its fields.`, {
      cause: error,
    });
  }
}

/** What the interface calls an instruction's accounts, in their order. */
export function accountNames(name: string): string[] {
  const item = IDL.instructions.find((candidate) => candidate.name === name);
  return item?.accounts.map((account) => account.name) ?? [];
}

/** Keys that an instruction asks to sign and that are not among those given. */
export function missingSigners(
  instruction: TransactionInstruction,
  signers: readonly Keypair[],
): PublicKey[] {
  return instruction.keys
    .filter(({ isSigner }) => isSigner)
    .map(({ pubkey }) => pubkey)
    .filter((key) => !signers.some(({ publicKey }) => publicKey.equals(key)));
}

/** What is no argument is an account, or a text that an account's address follows from. */
function parseValue(field: string, text: string, type: unknown): Value {
  const address = asAddress(text);
  switch (type) {
    case undefined:
      return address ?? text;
    case 'string':
      return text;
    case 'pubkey':
      if (!address) throw new CommandError(`${field} takes an address.`);
      return address;
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
      return typeof type === 'object' && type !== null && 'vec' in type
        ? parseAddresses(field, text)
        : parseBytes(field, text);
  }
}

function asAddress(text: string): PublicKey | undefined {
  try {
    return new PublicKey(text);
  } catch {
    return undefined;
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
    .map((part) => parseValue(field, part, 'pubkey') as PublicKey);
}

function parseBytes(field: string, text: string): Uint8Array {
  if (!/^(?:[0-9a-f]{2})+$/i.test(text)) throw new CommandError(`${field} takes bytes in hex.`);
  return Buffer.from(text, 'hex');
}
