import { readFileSync } from 'node:fs';
import { join } from 'node:path';

type Type = string | { array: [Type, number] } | { vec: Type };

interface Field {
  name: string;
  docs?: string[];
  type: Type;
}

type Seed = { kind: 'const'; value: number[] } | { kind: 'account' | 'arg'; path: string };

export interface Account {
  name: string;
  docs?: string[];
  writable?: boolean;
  signer?: boolean;
  optional?: boolean;
  address?: string;
  pda?: { seeds: Seed[] };
}

export interface Instruction {
  name: string;
  docs: string[];
  discriminator: number[];
  accounts: Account[];
  args: Field[];
}

/** The published interface, as far as the reference shows it. */
export interface Interface {
  address: string;
  instructions: Instruction[];
  accounts: { name: string; discriminator: number[] }[];
  events: { name: string; discriminator: number[] }[];
  errors: { code: number; name: string; msg: string }[];
  types: { name: string; docs?: string[]; type: { fields: Field[] } }[];
}

/** @param programs the folder of that name */
export const readInterface = (programs: string): Interface =>
  JSON.parse(readFileSync(join(programs, 'client/idl.json'), 'utf8')) as Interface;

const WIDTHS: Record<string, number> = {
  ...{ u8: 1, bool: 1, u16: 2, u32: 4, u64: 8, i64: 8, pubkey: 32 },
};

/** The bytes that a type takes, or undefined where that depends on the value. */
export const widthOf = (type: Type): number | undefined => {
  if (typeof type === 'string') return WIDTHS[type];
  if ('vec' in type) return undefined;
  const element = widthOf(type.array[0]);
  return element === undefined ? undefined : element * type.array[1];
};

export const typeText = (type: Type): string => {
  if (typeof type === 'string') return type;
  return 'vec' in type
    ? `Vec<${typeText(type.vec)}>`
    : `[${typeText(type.array[0])}; ${type.array[1]}]`;
};

export const hex = (bytes: readonly number[]): string => Buffer.from(bytes).toString('hex');

export const docsOf = ({ docs }: { docs?: string[] }): string => docs?.join(' ') ?? '';

/** The fields of an account or event. */
export const fieldsOf = (idl: Interface, name: string): Field[] => {
  const type = idl.types.find((item) => item.name === name);
  if (type === undefined) throw new Error(`the interface has no type ${name}`);
  return type.type.fields;
};

export const typeDocs = (idl: Interface, name: string): string =>
  docsOf(idl.types.find((item) => item.name === name) ?? {});

/** The seeds of an address in words; text in quotes. */
export const seedsText = ({ pda }: Account): string =>
  pda === undefined
    ? ''
    : pda.seeds
        .map((seed) =>
          seed.kind === 'const' ? `"${Buffer.from(seed.value).toString()}"` : seed.path,
        )
        .join(', ');

const UNITS: [RegExp, string][] = [
  [/_seconds$/, 'seconds'],
  [/(?:^|_)unix_time$|_at$/, 'seconds since 1970'],
  [/_basis_points$/, 'hundredths of a percent'],
  [/_lamports$/, 'lamports'],
  [/base_units$/, 'base units of the credit mint'],
  [/^slash_tokens$|^tokens$|stake_tokens$|^(?:unstaking|slashed)_tokens$/, 'whole stake tokens'],
  [/(?:^|_)credits(?:_max|_per_\w+)?$|^limit_per_\w+_credits$/, 'credits'],
  [/(?:^|_)tokens$|^token_limit$/, 'tokens of text'],
  [/_hash$/, 'sha256'],
  [/^spent_day$/, 'days since 1970'],
];

/** The unit that a name ends with. */
export const unitOf = (name: string): string =>
  UNITS.find(([pattern]) => pattern.test(name))?.[1] ?? '';
