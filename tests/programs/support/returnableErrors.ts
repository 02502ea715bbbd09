import { readSource } from '../../../programs/tools/idl/source.ts';
import {
  enclosed,
  RUST_SOURCE,
  type RustFunction,
  readRust,
  rustFunctions,
} from './rustFunctions.ts';

/** The errors that one instruction can return. */
export interface ReturnableErrors {
  /** By its declarations of accounts and arguments, before its handler runs. */
  declared: Set<string>;
  /** By reading the program's accounts. */
  loading: Set<string>;
  /** By its handler and all else that it calls. */
  handler: Set<string>;
}

/** It records what happened and cannot refuse. */
const NOT_FOLLOWED = 'emit';
/** What a file says of accounts are roles, and no types. */
const ROLES = /^accounts! \{[\s\S]*?^\}$/gm;
/** The module that reads accounts, and whose macro gives every account its methods. */
const LAYOUT = 'layout';

/**
 * What each instruction can return, read from the Rust source: the errors that its functions name
 * and those of the functions they call. A method is looked up by its receiver's type. Where the
 * source leaves that out, every type that the file names counts, so rather too much is found.
 */
export function returnableErrors(): Map<string, ReturnableErrors> {
  const functions = rustFunctions();
  const roles = parseRoles();
  return new Map(
    readSource(RUST_SOURCE).instructions.map(({ name, accounts, arguments: fields }) => {
      const declared = new Set(['MissingAccount', 'InvalidInstructionData']);
      for (const { rustType } of accounts) {
        for (const error of roles.get(rustType) ?? []) declared.add(error);
      }
      if (fields.some(({ rustType }) => rustType.startsWith('Text'))) declared.add('InvalidText');
      const process = functions.find((item) => item.owner === name && item.name === 'process');
      if (process === undefined) throw new Error(`${name} has no function process`);
      const reached = new Set<RustFunction>();
      reach(process, functions, reached);
      const errorsOf = (isAsked: (item: RustFunction) => boolean): Set<string> =>
        new Set([...reached].filter(isAsked).flatMap(({ body }) => namedErrors(body)));
      const loads = ({ owner, kind }: RustFunction): boolean => owner === LAYOUT && kind === 'free';
      const handler = errorsOf((item) => !loads(item));
      return [name, { declared, loading: errorsOf(loads), handler }];
    }),
  );
}

export const allErrors = ({ declared, loading, handler }: ReturnableErrors): string[] => [
  ...declared,
  ...loading,
  ...handler,
];

const isOfInvariant = (name: string): boolean =>
  /^(ArithmeticOverflow|InvariantViolated)$/.test(name);

/** What comes of an instruction's declarations and of reading its accounts: see accounts.test.ts. */
export const structuralErrors = ({ declared, loading }: ReturnableErrors): string[] => [
  ...[...declared].filter((name) => name !== 'InvalidText'),
  ...loading,
];

/** What comes of accounts that no instruction could have written: see invariants.test.ts. */
export const invariantErrors = ({ handler }: ReturnableErrors): string[] =>
  [...handler].filter(isOfInvariant);

/** All others, which a case of support/refusals or a wrong account provokes. */
export const ownErrors = ({ declared, handler }: ReturnableErrors): string[] => [
  ...[...declared].filter((name) => name === 'InvalidText'),
  ...[...handler].filter((name) => !isOfInvariant(name)),
];

/** What each role that an account can have refuses, from checks/roles.rs. */
function parseRoles(): Map<string, string[]> {
  const text = readRust('checks/roles.rs');
  const checked = text.matchAll(/^impl Role for (\w+) \{([\s\S]*?)\n\}/gm);
  const fixed = text.matchAll(/^ {4}(\w+), [\w:]+, (\w+);$/gm);
  return new Map([
    ...[...checked].map(([, role = '', body = '']): [string, string[]] => [
      role,
      namedErrors(body),
    ]),
    ...[...fixed].map(([, role = '', error = '']): [string, string[]] => [role, [error]]),
    ['WritableSigner', ['MissingSigner', 'NotWritable']],
  ]);
}

/** The errors that the text itself names. */
function namedErrors(text: string): string[] {
  const required = [...text.matchAll(/\brequire!\(/g)].map(
    ({ index, 0: macro }) => /(\w+)\s*$/.exec(enclosed(text, index + macro.length - 1))?.[1] ?? '',
  );
  const spelled = [...text.matchAll(/EscrowError::([A-Z]\w+)/g)].map(([, name = '']) => name);
  return [
    ...required,
    ...spelled,
    ...(text.includes('.or_overflow()') ? ['ArithmeticOverflow'] : []),
  ];
}

function reach(from: RustFunction, functions: RustFunction[], reached: Set<RustFunction>): void {
  if (reached.has(from)) return;
  reached.add(from);
  for (const called of calls(from, functions)) reach(called, functions, reached);
}

/** The functions that a function calls. */
function calls(caller: RustFunction, functions: RustFunction[]): RustFunction[] {
  const pattern = /(?:([\w.]+)\s*\.|(\w+)(?:::<[^>]*>)?::|(\.)\s*)?\b([a-z_]\w*)(?:::<[^(]*>)?\(/g;
  return [...caller.body.matchAll(pattern)].flatMap(([, receiver, path, dot, name = '']) => {
    if (name === NOT_FOLLOWED) return [];
    // Nothing but the dispatch calls into another instruction's file.
    const named = functions.filter(
      (item) =>
        item.name === name && (item.file === caller.file || !item.path.startsWith('instructions')),
    );
    if (path !== undefined) {
      const owner = path === 'Self' ? caller.owner : path;
      return named.filter((item) => item.owner === owner);
    }
    if (receiver === undefined && dot === undefined)
      return named.filter(({ kind }) => kind === 'free');
    const type = receiver === undefined ? undefined : typeOf(receiver, caller, functions);
    return named.filter(
      ({ owner, kind }) =>
        kind === 'method' &&
        (owner === LAYOUT || (type === undefined ? mentions(caller, owner) : owner === type)),
    );
  });
}

const mentions = ({ file }: RustFunction, type: string): boolean =>
  new RegExp(`\\b${type}\\b`).test(file);

/** A receiver's type as the source writes it: an annotation, a field's type, or a variable's name. */
function typeOf(
  receiver: string,
  { body, parameters, file, owner }: RustFunction,
  functions: RustFunction[],
): string | undefined {
  if (receiver === 'self') return owner;
  const name = receiver.split('.').at(-1) ?? '';
  const annotation = new RegExp(`\\b${name}: (?:&(?:'a )?(?:mut )?)?([A-Z]\\w*)\\b(?!\\()`);
  const scope = receiver === name ? `${parameters}\n${body}` : file.replace(ROLES, '');
  return (
    annotation.exec(scope)?.[1] ?? functions.find((item) => snakeCase(item.owner) === name)?.owner
  );
}

const snakeCase = (type: string): string =>
  type.replace(/[A-Z]/g, (letter, at) => `${at > 0 ? '_' : ''}${letter.toLowerCase()}`);
