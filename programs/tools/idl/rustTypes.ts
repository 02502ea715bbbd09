/** How a Rust type of the declarations appears in the IDL and in TypeScript. */
interface TypeForms {
  idl: unknown;
  typescript: string;
}

const named: Record<string, TypeForms> = {
  u8: { idl: 'u8', typescript: 'number' },
  u16: { idl: 'u16', typescript: 'number' },
  u32: { idl: 'u32', typescript: 'number' },
  u64: { idl: 'u64', typescript: 'bigint' },
  i64: { idl: 'i64', typescript: 'bigint' },
  bool: { idl: 'bool', typescript: 'boolean' },
  Address: { idl: 'pubkey', typescript: 'PublicKey' },
  "Text<'a>": { idl: 'string', typescript: 'string' },
  "Addresses<'a>": { idl: { vec: 'pubkey' }, typescript: 'PublicKey[]' },
};

const aliases: Record<string, string> = {
  U16: 'u16',
  U32: 'u32',
  U64: 'u64',
  I64: 'i64',
  Flag: 'bool',
  "&'a Address": 'Address',
  "&'a [Address]": "Addresses<'a>",
};

/** @throws when the program uses a type that the IDL has no form for */
export const typeForms = (rustType: string): TypeForms => {
  const known = named[aliases[rustType] ?? rustType];
  if (known !== undefined) return known;
  const [, enumeration] = /^Byte<(\w+)>$/.exec(rustType) ?? [];
  if (enumeration !== undefined) {
    return { idl: { defined: { name: enumeration } }, typescript: enumeration };
  }
  const array = /^(?:&'a )?\[(u8|Address); (\d+)\]$/.exec(rustType);
  if (array === null) throw new Error(`no IDL type for ${rustType}`);
  const element = named[array[1] ?? ''];
  return {
    idl: { array: [element?.idl, Number(array[2])] },
    typescript: array[1] === 'u8' ? 'Uint8Array' : 'PublicKey[]',
  };
};
