import { oneLine, splitList } from './rustText.ts';

/**
 * What the names inside a function stand for, in the words of the handler that called it. The
 * fields of a struct that was written out are bound one by one: `self.payer`.
 */
export type Bindings = ReadonlyMap<string, string>;

/** Longer than this and a name says more than what it stands for. */
const INLINED_LENGTH_MAX = 60;

/** How a handler spells an account it has loaded. */
const LOADED = /load(?:_mut)?::<\w+>\(&?accounts\.(\w+)\)/g;

/** A name, or a constant parameter, with perhaps one field or method; no label and no macro. */
const PATH = /(?<![.\w'])([a-z_]\w*|N\b)(\.\w+)?\b(?!\s*(?::|!\())/g;

/** An expression on one line in the handler's words, without `?`. */
export const express = (expression: string, bindings: Bindings): string => {
  const whole = oneLine(expression).replace(/\?/g, '');
  const bound = bindings.get(whole);
  if (bound !== undefined) return bound;
  return whole
    .replace(PATH, (path, name: string, field = '', at: number) => {
      const value = bindings.get(path);
      if (value !== undefined) return enclose(value);
      const isFunction = field === '' && whole[at + path.length] === '(';
      const owner = isFunction ? undefined : bindings.get(name);
      return owner === undefined ? path : `${enclose(owner)}${field}`;
    })
    .replace(LOADED, '$1')
    .replace(REFERENCE, '');
};

const enclose = (value: string): string =>
  / (?:[-+*/<>=|&]+|as) /.test(value.replace(/\([^()]*\)/g, '')) ? `(${value})` : value;

/** What a name is bound to: the value itself, not how a failure is named or the borrow checked. */
export const bindable = (expression: string, bindings: Bindings): string =>
  express(expression, bindings)
    .replace(/^&(?:mut )?/, '')
    .replace(/^unsafe \{ (.*) \}/, '$1')
    .replace(/\.as_ref\(\)$|\.map_err\(.*\)$/, '');

/** What is compared or passed does not depend on whether it is by reference. */
const REFERENCE = /(?<!&)&(?:mut )?(?=[\w[])/g;

/** Whether a name is better replaced by its value. */
export const isInlined = (value: string): boolean =>
  value.length <= INLINED_LENGTH_MAX && !value.includes('{');

/** The fields of a struct that is written out, or of the name it was bound to, each with `as`. */
export const bindFields = (value: string, as: string, bindings: Bindings): Bindings => {
  const written = /^&?\w+\s*\{(.*)\}$/s.exec(value.trim())?.[1];
  if (written !== undefined) {
    return new Map(
      splitList(written).map((field) => {
        const [, name = '', given] = /^(\w+)(?:: (.+))?$/s.exec(field) ?? [];
        return [`${as}.${name}`, bindable(given ?? name, bindings)];
      }),
    );
  }
  const prefix = `${value.trim()}.`;
  return new Map(
    [...bindings]
      .filter(([path]) => path.startsWith(prefix))
      .map(([path, meaning]) => [`${as}.${path.slice(prefix.length)}`, meaning]),
  );
};
