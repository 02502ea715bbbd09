/**
 * Reads the regular declarations of the Rust program. Any other form than the program's is an error,
 * so that the IDL never lacks a declaration silently.
 */

export interface Field {
  name: string;
  rustType: string;
  docs: string[];
}

export interface AccountField extends Field {
  /** The seeds of `#[pda(...)]`: a name from seeds.rs, then accounts or arguments. */
  seeds: string[] | undefined;
}

export interface Struct<F extends Field = Field> {
  name: string;
  docs: string[];
  fields: F[];
}

export interface Instruction {
  name: string;
  docs: string[];
  arguments: Field[];
  accounts: AccountField[];
}

/** One byte's meanings, in the order of their numbers. */
export interface Enumeration {
  name: string;
  docs: string[];
  variants: { name: string; docs: string[] }[];
}

export interface Constant {
  name: string;
  docs: string[];
  rustType: string;
  value: bigint | string;
}

export interface ErrorCode {
  code: number;
  name: string;
  message: string;
}

/** One source file as lines, with the reading position, so that an error can name its place. */
class Lines {
  readonly path: string;
  readonly #lines: string[];
  #at = 0;

  constructor(path: string, text: string) {
    this.path = path;
    this.#lines = text.split('\n');
  }

  get done(): boolean {
    return this.#at >= this.#lines.length;
  }

  peek(): string {
    return this.#lines[this.#at]?.trim() ?? '';
  }

  next(): string {
    const line = this.peek();
    this.#at += 1;
    return line;
  }

  expect(line: string): void {
    if (this.next() !== line) this.fail(`expected \`${line}\``);
  }

  match(pattern: RegExp): string[] {
    const found = pattern.exec(this.next());
    if (found === null) this.fail(`expected ${pattern}`);
    return found.slice(1);
  }

  fail(reason: string): never {
    throw this.error(reason);
  }

  error(reason: string): Error {
    return new Error(`${this.path}:${this.#at}: ${reason}`);
  }
}

const readDocs = (lines: Lines): string[] => {
  const docs: string[] = [];
  while (lines.peek().startsWith('///')) docs.push(lines.next().slice(3).trim());
  return docs;
};

/** Fields up to the closing brace, which is consumed. */
const readFields = (lines: Lines): AccountField[] => {
  const fields: AccountField[] = [];
  for (;;) {
    const docs = readDocs(lines);
    const pda = /^#\[pda\((.+)\)\]$/.exec(lines.peek());
    if (pda !== null) lines.next();
    if (lines.peek() === '}') break;
    const [name, rustType] = lines.match(/^(?:pub )?([a-z][a-z0-9_]*): ([^=]+?)(?: = .+)?,$/);
    fields.push({ name: name ?? '', rustType: rustType ?? '', docs, seeds: pda?.[1]?.split(', ') });
  }
  lines.expect('}');
  return fields;
};

const readStruct = (lines: Lines): Struct<AccountField> => {
  const docs = readDocs(lines);
  const [name, empty] = lines.match(/^pub struct ([A-Z]\w*)(?:<'a>)?(?:\(.+\))? \{(\})?$/);
  return { name: name ?? '', docs, fields: empty === '}' ? [] : readFields(lines) };
};

/** Every `enumeration!` of a file. */
export const parseEnumerations = (path: string, text: string): Enumeration[] => {
  const lines = new Lines(path, text);
  const enumerations: Enumeration[] = [];
  while (!lines.done) {
    if (lines.next() !== 'enumeration! {') continue;
    const docs = readDocs(lines);
    const [name = ''] = lines.match(/^pub enum ([A-Z]\w*) \{$/);
    const variants: Enumeration['variants'] = [];
    while (lines.peek() !== '}') {
      const variantDocs = readDocs(lines);
      const [variant = ''] = lines.match(/^([A-Z]\w*),$/);
      variants.push({ name: variant, docs: variantDocs });
    }
    enumerations.push({ name, docs, variants });
  }
  return enumerations;
};

/**
 * The public constants of limits.rs: sums and products of numbers and of earlier constants, the
 * largest number of 64 bits, or text. An assertion or a function between them is none of our
 * business.
 */
export const parseConstants = (path: string, text: string): Constant[] => {
  const known = new Map<string, bigint | string>([['u64::MAX', 2n ** 64n - 1n]]);
  const declarations = text.matchAll(/^((?:\/\/\/ .*\n)*)pub const (\w+): ([^=]+) =\s+([^;]+);$/gm);
  return [...declarations].map(([, docs = '', name = '', rustType = '', expression = '']) => {
    const value = evaluate(expression, known, `${path}: ${name}`);
    known.set(name, value);
    const lines = [...docs.matchAll(/^\/\/\/ (.*)$/gm)].map(([, line = '']) => line);
    return { name, docs: lines, rustType, value };
  });
};

const evaluate = (
  expression: string,
  known: ReadonlyMap<string, bigint | string>,
  place: string,
): bigint | string => {
  const [, quoted] = /^b"([\w-]+)"$/.exec(expression) ?? [];
  if (quoted !== undefined) return quoted;
  const factor = (word: string): bigint => {
    const [name = ''] = word.trim().split(' as ');
    const value = known.get(name) ?? (/^[\d_]+$/.test(name) && BigInt(name.replaceAll('_', '')));
    if (typeof value !== 'bigint') throw new Error(`${place} is no sum of products of numbers`);
    return value;
  };
  const product = (term: string) =>
    term
      .split(' * ')
      .map(factor)
      .reduce((one, other) => one * other);
  return expression
    .split('+')
    .map(product)
    .reduce((one, other) => one + other);
};

/** The one `#[repr(C)]` struct of a state file: an account's layout. */
export const parseAccount = (path: string, text: string): Struct => {
  const lines = new Lines(path, text);
  let docs: string[] = [];
  while (lines.peek() !== '#[repr(C)]') {
    if (lines.done) lines.fail('no #[repr(C)] struct');
    docs = readDocs(lines);
    if (docs.length === 0) lines.next();
  }
  lines.next();
  const account = { ...readStruct(lines), docs };
  const header = account.fields.slice(0, 3).map((field) => `${field.name}: ${field.rustType}`);
  if (header.join() !== 'discriminator: [u8; 8],version: u8,bump: u8') {
    lines.fail('an account begins with discriminator, version and bump');
  }
  return { ...account, fields: account.fields.slice(1) };
};

/** Every event of events.rs, in order, with the fields of its parts in their places. */
export const parseEvents = (path: string, text: string): Struct[] => {
  const lines = new Lines(path, text);
  const parts = new Map<string, Struct>();
  const whole = ({ fields }: Struct): Field[] =>
    fields.flatMap((field) => {
      const part = parts.get(field.rustType);
      return part === undefined ? [field] : whole(part);
    });
  const events: Struct[] = [];
  while (!lines.done) {
    let line = lines.next();
    const isImport = line.startsWith('use ');
    while (isImport && !line.endsWith(';')) line = lines.next();
    if (line === '' || line.startsWith('//!') || isImport) continue;
    if (line !== 'parts! {' && line !== 'events! {') lines.fail('expected parts or events');
    while (lines.peek() !== '}') {
      const struct = readStruct(lines);
      if (line === 'parts! {') parts.set(`${struct.name}<'a>`, struct);
      else events.push({ ...struct, fields: whole(struct) });
      if (lines.peek() === '') lines.next();
    }
    lines.expect('}');
  }
  return events;
};

/** The `arguments!` and `accounts!` that a file declares for several instructions. */
export const parseShared = (path: string, text: string): Struct<AccountField>[] => {
  const lines = new Lines(path, text);
  const found: Struct<AccountField>[] = [];
  while (!lines.done) {
    if (/^(arguments|accounts)! \{$/.test(lines.next())) found.push(readStruct(lines));
  }
  return found;
};

/**
 * The arguments and accounts of one instruction's file; its handler is none of our business.
 *
 * @param shared arguments and accounts that the file may import as its own
 */
export const parseInstruction = (
  name: string,
  path: string,
  text: string,
  shared: readonly Struct<AccountField>[] = [],
): Instruction => {
  const lines = new Lines(path, text);
  const docs: string[] = [];
  while (lines.peek().startsWith('//!')) docs.push(lines.next().slice(3).trim());
  const declared = new Map<string, AccountField[]>();
  while (!lines.done) {
    const macro = /^(arguments|accounts)! \{$/.exec(lines.next())?.[1];
    if (macro === undefined) continue;
    if (declared.has(macro)) lines.fail(`${macro} declared twice`);
    declared.set(macro, readStruct(lines).fields);
    lines.expect('}');
  }
  const declaredOrShared = (macro: string, as: string): AccountField[] | undefined => {
    const [, imported] = new RegExp(`\\b(\\w+) as ${as}\\b`).exec(text) ?? [];
    return declared.get(macro) ?? shared.find((struct) => struct.name === imported)?.fields;
  };
  const args = declaredOrShared('arguments', 'Arguments');
  const accounts = declaredOrShared('accounts', 'Accounts');
  if (docs.length === 0 || args === undefined || accounts === undefined) {
    throw lines.error('an instruction has a description, arguments and accounts');
  }
  return { name, docs, arguments: args, accounts };
};

/** The numbered errors of error.rs, whose documentation is their message. */
export const parseErrors = (path: string, text: string): ErrorCode[] => {
  const lines = new Lines(path, text);
  const errors: ErrorCode[] = [];
  while (lines.next() !== 'pub enum EscrowError {') {
    if (lines.done) lines.fail('no enum EscrowError');
  }
  while (lines.peek() !== '}') {
    const message = readDocs(lines).join(' ');
    const [name, code] = lines.match(/^([A-Z]\w+) = (\d{4}),$/);
    if (message === '') lines.fail('an error has a message');
    errors.push({ code: Number(code), name: name ?? '', message });
  }
  return errors;
};

interface Seeds {
  /** Constant name to seed text. */
  text: Map<string, string>;
  /** Account names whose address follows from one seed alone. */
  fixed: Set<string>;
}

/** The seeds of seeds.rs. */
export const parseSeeds = (text: string): Seeds => ({
  text: new Map(
    [...text.matchAll(/^pub const ([A-Z_]+): &\[u8\] = b"(\w+)";$/gm)].map((found) => [
      found[1] ?? '',
      found[2] ?? '',
    ]),
  ),
  fixed: new Set(
    [...text.matchAll(/^pub const ([A-Z_]+)_ADDRESS: Address = fixed\(\1\);$/gm)].map((found) =>
      (found[1] ?? '').toLowerCase(),
    ),
  ),
});

/** The program's address and its table of instructions from lib.rs. */
export const parseProgram = (path: string, text: string) => {
  const address = /^ {4}None => "(\w+)",\n\}\);$/m.exec(text)?.[1];
  const table = /^instructions! \{\n((?: {4}[a-z_]+,\n)+)\}$/m.exec(text)?.[1];
  if (address === undefined || table === undefined) {
    throw new Error(`${path}: no program id, or no table of instructions`);
  }
  return { address, instructions: [...table.matchAll(/[a-z_]+/g)].map((found) => found[0]) };
};
