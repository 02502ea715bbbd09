import { IDL, wordsOf } from '../../programs/client/codec.ts';
import type { Field, FieldType } from '../../programs/client/interface.ts';

/** The kinds of account that a verification reads. */
export const ACCOUNTS = ['Job', 'Worker', 'Config', 'Model'];
/** The instructions whose arguments it reads. */
export const INSTRUCTIONS = ['job_prove', 'job_settle', 'job_complete', 'dispute_resolve'];
/** The enumerations that these have. */
const ENUMERATIONS = IDL.types.flatMap(({ name, type }) => (type.kind === 'enum' ? [name] : []));

const COLUMNS = 100;

/** The table of `receipts/python/svc_verify.py`, from the published interface. */
export function pythonLayouts(): string {
  const structs = [...IDL.events.map(({ name }) => name), ...ACCOUNTS];
  const rows = [
    ...structs.map((name) => [name, ...words(structFields(name))]),
    ...INSTRUCTIONS.map((name) => [name, ...words(argumentsOf(name))]),
    ...ENUMERATIONS.map((name) => [name, ...wordsOf(name)]),
  ];
  return rows.map(wrapped).join('\n');
}

const words = (fields: readonly Field[]): string[] =>
  fields.map(({ name, type }) => `${name}:${typeName(type)}`);

/** On lines of bounded length, of which all but the first are indented. */
function wrapped(row: readonly string[]): string {
  let text = '';
  let length = 0;
  for (const word of row) {
    if (length + word.length > COLUMNS) {
      text += '\n ';
      length = 1;
    }
    text += length > 0 ? ` ${word}` : word;
    length += word.length + 1;
  }
  return text;
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
