import { IDL } from '../../../programs/client/index.ts';

/** A field's type as the IDL spells it. */
export type Type =
  | string
  | { array: [Type, number] }
  | { vec: Type }
  | { defined: { name: string } };

const WIDTHS: Record<string, number> = {
  u8: 1,
  bool: 1,
  u16: 2,
  u32: 4,
  u64: 8,
  i64: 8,
  pubkey: 32,
};

/** Bytes of a type in account data. */
export const width = (type: Type): number => {
  if (typeof type === 'string') {
    const bytes = WIDTHS[type];
    if (bytes === undefined) throw new Error(`${type} has no fixed width`);
    return bytes;
  }
  if ('defined' in type) return 1;
  if ('vec' in type) throw new Error('a list has no fixed width');
  return width(type.array[0]) * type.array[1];
};

export const typeText = (type: Type): string => {
  if (typeof type === 'string') return type;
  if ('defined' in type) return type.defined.name;
  return 'vec' in type ? `${typeText(type.vec)}[]` : `${typeText(type.array[0])}×${type.array[1]}`;
};

/** The fields of an account or event. */
export const fieldsOf = (name: string) => {
  const type = IDL.types?.find((item) => item.name === name)?.type;
  if (type?.kind !== 'struct') throw new Error(`no struct ${name}`);
  return (type.fields ?? []) as { name: string; type: Type }[];
};
