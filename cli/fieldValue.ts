import { PublicKey } from '@solana/web3.js';
import type { Value } from '../programs/client/codec.ts';
import { CommandError } from './errors.ts';

/**
 * Reads a field of an instruction as somebody types it. How great it may be is for the builders to
 * say.
 *
 * @param field its name, for whoever mistyped it
 * @param type as the interface spells it
 * @throws CommandError naming the field and what it takes
 */
export function parseValue(field: string, text: string, type: unknown): Value {
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
      return typeof type === 'object' && type !== null && 'vec' in type
        ? parseAddresses(field, text)
        : parseBytes(field, text);
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
