import { IDL, wordsOf } from '../../programs/client/codec.ts';
import type { Field, FieldType } from '../../programs/client/interface.ts';

/** The kinds of account that a verification reads. */
export const ACCOUNTS = ['Job', 'Worker', 'Config', 'Model'];
/** The instructions whose arguments it reads. */
export const INSTRUCTIONS = ['job_prove', 'job_settle', 'job_complete', 'dispute_resolve'];
/** The enumerations that these have. */
const ENUMERATIONS = IDL.types.flatMap(({ name, type }) => (type.kind === 'enum' ? [name] : []));

/** Names of events, accounts, instructions and enumerations, with their fields or words. */
type Layouts = Readonly<Record<string, readonly string[]>>;

/** What the table of `receipts/python/svc_verify.py` must say, from the published interface. */
export function publishedLayouts(): Layouts {
  const structs = [...IDL.events.map(({ name }) => name), ...ACCOUNTS];
  return Object.fromEntries([
    ...structs.map((name) => [name, words(structFields(name))]),
    ...INSTRUCTIONS.map((name) => [name, words(argumentsOf(name))]),
    ...ENUMERATIONS.map((name) => [name, wordsOf(name)]),
  ]);
}

const words = (fields: readonly Field[]): string[] =>
  fields.map(({ name, type }) => `${name}:${typeName(type)}`);

/** What it says: a row goes on where lines are indented, and `@` names a row of fields in others. */
export function pythonLayouts(source: string): Layouts {
  const [, table = ''] = /^TABLE = """\n(.+?)^"""$/ms.exec(source) ?? [];
  const rows = new Map(
    table
      .trim()
      .split(/\n(?! )/)
      .map((row) => row.split(/\s+/))
      .map(([name = '', ...row]) => [name, row]),
  );
  const expanded = (row: readonly string[]): string[] =>
    row.flatMap((word) => (word.startsWith('@') ? expanded(rows.get(word) ?? [word]) : [word]));
  const named = [...rows].filter(([name]) => !name.startsWith('@'));
  return Object.fromEntries(named.map(([name, row]) => [name, expanded(row)]));
}

export function structFields(name: string): readonly Field[] {
  const found = IDL.types.find((each) => each.name === name)?.type;
  if (found?.kind !== 'struct') throw new Error(`There is no struct ${name}`);
  return found.fields;
}

export function argumentsOf(name: string): readonly Field[] {
  const found = IDL.instructions.find((each) => each.name === name);
  if (!found) throw new Error(`There is no instruction ${name}`);
  return found.args;
}

/** A type in one word: `bytes32` for 32 bytes, `keys8` for eight keys, `keys` for a list of them. */
export function typeName(type: FieldType): string {
  if (typeof type === 'string') return type;
  if ('defined' in type) return type.defined.name;
  if ('vec' in type) return 'keys';
  const [inner, length] = type.array;
  return `${inner === 'u8' ? 'bytes' : 'keys'}${length}`;
}
