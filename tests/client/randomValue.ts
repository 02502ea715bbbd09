import { PublicKey } from '@solana/web3.js';
import { type Value, wordsOf } from '../../programs/client/codec.ts';
import idl from '../../programs/client/idl.json' with { type: 'json' };
import { camelCase, type Field, type FieldType } from '../../programs/client/interface.ts';
import { toCoder } from '../../testing/ledger/anchorCoder.ts';
import type { Random } from '../../testing/random.ts';

/** Any value of a type, in this client's terms. */
export function randomValue(type: FieldType, random: Random): Value {
  if (typeof type === 'object' && 'defined' in type) {
    const words = wordsOf(type.defined.name);
    return words[random.below(words.length)] as string;
  }
  if (typeof type === 'object') {
    if ('array' in type && type.array[0] === 'u8') return random.bytes(type.array[1]);
    const [inner, length] = 'vec' in type ? [type.vec, 1 + random.below(8)] : type.array;
    return Array.from({ length }, () => randomValue(inner, random) as PublicKey);
  }
  switch (type) {
    case 'u8':
    case 'u16':
    case 'u32':
      return random.below(2 ** Number(type.slice(1)));
    case 'u64':
      return Buffer.from(random.bytes(8)).readBigUInt64LE();
    case 'i64':
      return Buffer.from(random.bytes(8)).readBigInt64LE();
    case 'bool':
      return random.below(2) === 1;
    case 'pubkey':
      return new PublicKey(random.bytes(32));
    case 'string':
      return Buffer.from(random.bytes(8)).toString('hex');
    default:
      throw new Error(`The test has no value of type ${type}`);
  }
}

/** Any value of a struct: as this client reads it, and as Anchor's coder writes it. */
export function randomStruct(
  name: string,
  random: Random,
): { data: Record<string, Value>; forCoder: Record<string, unknown> } {
  const found = idl.types.find((type) => type.name === name)?.type;
  return randomFields((found && 'fields' in found ? found.fields : []) as Field[], random);
}

/** The same of any list of fields, such as an instruction's arguments. */
export function randomFields(
  fields: readonly Field[],
  random: Random,
): { data: Record<string, Value>; forCoder: Record<string, unknown> } {
  const values = fields.map((field) => ({ ...field, value: randomValue(field.type, random) }));
  return {
    data: Object.fromEntries(values.map(({ name, value }) => [camelCase(name), value])),
    forCoder: Object.fromEntries(
      values.map(({ name, type, value }) => [name, toCoder(value, type)]),
    ),
  };
}
