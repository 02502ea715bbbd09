import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { closeOf, maskText, splitList } from './rustText.ts';

/** A function of the program, as far as its refusals can be read from it. */
export interface RustFunction {
  file: string;
  /** The type whose method it is, or '' */
  owner: string;
  name: string;
  /** Without `self` */
  parameters: { name: string; type: string }[];
  returns: string;
  /** Its documentation, on one line */
  docs: string;
  /** Comments and strings blanked out */
  body: string;
}

/** A type without references, lifetimes and `Result`: what a method call looks for. */
export const baseType = (type: string): string =>
  type
    .trim()
    .replace(/^Result<(.*)>$/s, '$1')
    .replace(/&(?:'\w+ )?(?:mut )?/g, '')
    .replace(/<.*>$/s, '')
    .trim();

/** The program's functions, structs and constants, found by name. */
export class RustSource {
  readonly #functions: RustFunction[] = [];
  readonly #fields = new Map<string, Map<string, string>>();
  readonly #constants = new Map<string, string>();
  readonly #texts = new Map<string, string>();

  /** @param files text by path */
  constructor(files: ReadonlyMap<string, string>) {
    for (const [file, text] of files) {
      const code = maskMacros(maskText(text));
      this.#texts.set(file, text);
      this.#readFunctions(file, code, text);
      this.#readFields(file, code);
      for (const [, name, value] of code.matchAll(/^(?:pub )?const (\w+): [^=]+ =([^;]+);/gm)) {
        this.#constants.set(name ?? '', (value ?? '').trim());
      }
    }
  }

  /** The function that `file` means by this owner and name, if the program has it. */
  find(file: string, owner: string, name: string): RustFunction | undefined {
    const named = this.#functions.filter((item) => item.owner === owner && item.name === name);
    // Arguments and Accounts exist once in each instruction's file.
    return (
      named.find((item) => item.file === file) ??
      named.find((item) => !item.file.startsWith('instructions/'))
    );
  }

  fieldType(file: string, struct: string, field: string): string | undefined {
    return (this.#fields.get(`${file} ${struct}`) ?? this.#fields.get(struct))?.get(field);
  }

  hasType(name: string): boolean {
    return this.#fields.has(name);
  }

  constant(name: string): string | undefined {
    return this.#constants.get(name);
  }

  /** A file's text, comments and all. */
  text(file: string): string {
    return this.#texts.get(file) ?? '';
  }

  #readFunctions(file: string, code: string, text: string): void {
    const owners = [...code.matchAll(/^impl(?:<[^>]*>)? ([^{]+) (?=\{)/gm)].map((found) => {
      const open = found.index + found[0].length;
      const name = baseType((found[1] ?? '').replace(/^.+ for /, ''));
      return { name, open, close: closeOf(code, open) };
    });
    for (const found of code.matchAll(/\bfn (\w+)(?:<[^(]*>)?(?=\()/g)) {
      const open = found.index + found[0].length;
      const close = closeOf(code, open);
      const signature = /^\s*(?:-> ((?:\[[^\]]*\]|[^{;[])+?))?\s*(?=[{;])/.exec(
        code.slice(close + 1),
      );
      const bodyAt = close + 1 + (signature?.[0].length ?? 0);
      if (signature === null || code[bodyAt] === ';') continue;
      const owner = owners.find((impl) => impl.open < open && open < impl.close);
      this.#functions.push({
        file,
        owner: owner?.name ?? '',
        name: found[1] ?? '',
        parameters: splitList(code.slice(open + 1, close))
          .map((parameter) => /^(?:mut )?(\w+): (.+)$/s.exec(parameter))
          .flatMap((named) => (named ? [{ name: named[1] ?? '', type: named[2] ?? '' }] : [])),
        returns: signature[1] ?? '',
        docs: docsBefore(text.slice(0, found.index)),
        body: code.slice(bodyAt + 1, closeOf(code, bodyAt)),
      });
    }
  }

  #readFields(file: string, code: string): void {
    for (const found of code.matchAll(/\bstruct (\w+)(?:<[^>]*>)? (?=\{)/g)) {
      const open = found.index + found[0].length;
      const fields = splitList(code.slice(open + 1, closeOf(code, open))).map((field) => {
        const [, name, type] = /(\w+): (.+)$/s.exec(field) ?? [];
        return [name ?? '', type ?? ''] as const;
      });
      this.#fields.set(`${file} ${found[1]}`, new Map(fields));
      this.#fields.set(found[1] ?? '', new Map(fields));
    }
  }
}

/** The documentation that ends where a function begins. */
const docsBefore = (text: string): string => {
  const lines = text.split('\n').slice(0, -1).reverse();
  const isHead = (line: string): boolean => /^\s*(?:\/\/\/|#\[)/.test(line);
  const count = lines.findIndex((line) => !isHead(line));
  return lines
    .slice(0, count)
    .reverse()
    .filter((line) => line.includes('///'))
    .map((line) => line.trim().slice(3).trim())
    .join(' ');
};

/** A macro's own code has placeholders for names; what it stands for is modelled by refusals.ts. */
const maskMacros = (code: string): string => {
  let masked = code;
  for (const found of code.matchAll(/^macro_rules! \w+ (?=\{)/gm)) {
    const close = closeOf(code, found.index + found[0].length);
    masked =
      masked.slice(0, found.index) + ' '.repeat(close - found.index + 1) + masked.slice(close + 1);
  }
  return masked;
};

/** Reads every Rust file below a folder. */
export const readRustSource = (folder: string): RustSource =>
  new RustSource(
    new Map(
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.rs'))
        .sort()
        .map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
    ),
  );
