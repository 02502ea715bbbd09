import { type Bindings, bindable, bindFields, isInlined } from './bindings.ts';
import { type Scope, typeOf } from './expressionType.ts';
import { baseType, type RustFunction, type RustSource } from './rustSource.ts';
import { statementEnd } from './rustText.ts';
import type { Meaning } from './steps.ts';

type Meanings = ReadonlyMap<string, string>;

/** A function, and what is known of the names in it. */
export interface Names extends Scope {
  bindings: Bindings;
  /** Of names that are kept */
  meanings: Meanings;
}

/**
 * The types of a function's names, and what they stand for in its caller's words. A name for
 * something long is kept and explained: see `explain`.
 */
export const readNames = (source: RustSource, item: RustFunction, passed: Bindings): Names => {
  const bindings = new Map(passed);
  const types = new Map([['self', item.owner]]);
  const meanings = new Map<string, string>();
  for (const { name, type } of item.parameters) types.set(name, baseType(type));
  const scope = { source, item, types, bindings, meanings };
  for (const { name, annotated, value } of findLets(item.body)) {
    const type = annotated === undefined ? typeOf(scope, value) : baseType(annotated);
    if (type !== undefined) types.set(name, type);
    const meaning = bindable(value, bindings);
    const isOwn = new RegExp(`(?<![.\\w])${name}\\b(?!\\()`).test(value);
    bindings.delete(name);
    for (const [path, given] of bindFields(value, name, bindings)) bindings.set(path, given);
    const isPath = /^\w+(?:\.\w+(?:\(\))?)+$/.test(meaning);
    if (type !== undefined && source.hasType(type) && !isPath) continue;
    if (meaning === name) continue;
    if (!isOwn && isInlined(meaning)) bindings.set(name, meaning);
    else meanings.set(name, [meanings.get(name), meaning].filter(Boolean).join(', then '));
  }
  return scope;
};

/** Every name that a body gives to a value: by `let`, or by the arm of a match on an option. */
const findLets = (body: string): { name: string; annotated?: string; value: string }[] => {
  const lets = [...body.matchAll(/\blet ((?:Some|Ok)?\(.+?\)|\w+)(?:: ([^=]+?))? =(?=\s)/g)].map(
    ({ index, 0: { length }, 1: pattern = '', 2: annotated }) => ({
      name: pattern.replace(/^(?:Some|Ok)?\((.*)\)$/, '$1'),
      ...(annotated !== undefined && { annotated }),
      // A pattern that may not match has an `else` of its own.
      value: body.slice(
        index + length,
        statementEnd(body, index + length, /^[SO]/.test(pattern) ? ' else {' : ';'),
      ),
    }),
  );
  const arms = [...body.matchAll(/\bmatch (\S+) \{\s*Some\((\w+)\)/g)].map(
    ({ 1: value = '', 2: name = '' }) => ({ name, value }),
  );
  return [...lets, ...arms];
};

/** The long-winded names in an expression, each with its meaning. */
export const explain = (meanings: Meanings, expression: string): Meaning[] =>
  [...meanings].flatMap(([names, meaning]): Meaning[] => {
    const isUsed = names
      .split(', ')
      .some((name) => new RegExp(`(?<![.\\w])${name}\\b(?!:)`).test(expression));
    const rest = new Map([...meanings].filter(([other]) => other !== names));
    return isUsed ? [[names, meaning], ...explain(rest, meaning)] : [];
  });
