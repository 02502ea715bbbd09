import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The program's source folder. */
export const RUST_SOURCE = join(import.meta.dirname, '../../../programs/escrow/src');

/** One function of the program, as far as its refusals need it. */
export interface RustFunction {
  name: string;
  /** The file, relative to the source folder. */
  path: string;
  /** The type it is implemented on, or its module. */
  owner: string;
  parameters: string;
  /** Called on a value, by a type's or a trait's path, or by its bare name. */
  kind: 'method' | 'associated' | 'free';
  body: string;
  /** The text of the whole file. */
  file: string;
}

export const readRust = (path: string): string =>
  readFileSync(join(RUST_SOURCE, path), 'utf8').replace(/\/\/.*$/gm, '');

/** Every function of the program that has a body. */
export function rustFunctions(): RustFunction[] {
  return readdirSync(RUST_SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.rs'))
    .flatMap((path) => parseFunctions(path, readRust(path)));
}

/** The text between the bracket at `open` and its partner. */
export function enclosed(text: string, open: number): string {
  const opening = text[open] ?? '';
  const closing = opening === '(' ? ')' : '}';
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text[at] === opening) depth += 1;
    if (text[at] === closing) depth -= 1;
    if (depth === 0) return text.slice(open + 1, at);
  }
  throw new Error(`a bracket is never closed: ${text.slice(open, open + 40)}`);
}

function parseFunctions(path: string, file: string): RustFunction[] {
  const module = path.replace(/(\/mod)?\.rs$/, '').replace(/^.*\//, '');
  const implementations = [...file.matchAll(/^impl(?:<[^{]*?>)? (?:[^{]*? for )?([A-Z]\w*)/gm)];
  return [...file.matchAll(/^( *).*\bfn (\w+)(?:<[^(]*>)?\(/gm)].flatMap((found) => {
    const [declaration, indent = '', name = ''] = found;
    const open = found.index + declaration.length - 1;
    const parameters = enclosed(file, open);
    const after = open + parameters.length + 2;
    // The semicolon of an array's type ends no declaration.
    const brace = after + (/^(?:\[[^\]]*\]|[^{;[])*/.exec(file.slice(after))?.[0].length ?? 0);
    if (file[brace] !== '{') return [];
    const type = implementations.findLast(({ index }) => index < found.index)?.[1];
    const owner = indent.length > 0 && type !== undefined ? type : module;
    const outside = indent === '' ? 'free' : 'associated';
    const kind = /\bself\b/.test(parameters) ? 'method' : outside;
    return { name, path, owner, parameters, kind, body: enclosed(file, brace), file };
  });
}
