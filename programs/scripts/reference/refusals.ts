import { type Bindings, bindable, express } from './bindings.ts';
import { chainStart } from './blocks.ts';
import { readCalls } from './calls.ts';
import { alternative, type Body, conditionsAt } from './conditions.ts';
import { explain, readNames } from './names.ts';
import type { RustFunction, RustSource } from './rustSource.ts';
import { closeOf, splitList } from './rustText.ts';
import type { Placed, Step } from './steps.ts';

/**
 * Everything that can end a handler, in the order in which it happens.
 *
 * The program is written so that this can be read: a refusal is a `require!`, an `EscrowError`, or
 * a fallible call, whose function is read in turn. Anything else that could fail stops the reading,
 * so that no refusal is left out in silence.
 *
 * @param file the instruction's, relative to the source folder
 */
export const readSteps = (source: RustSource, file: string): Step[] => {
  const handler = source.find(file, '', 'process');
  if (handler === undefined) throw new Error(`${file} has no handler`);
  return readBody(source, handler, new Map(), []);
};

const readBody = (
  source: RustSource,
  item: RustFunction,
  passed: Bindings,
  when: string[],
): Step[] => {
  const body: Body = { ...readNames(source, item, passed), when };
  const placed = [
    ...requires(body),
    ...errors(body),
    ...readCalls(body, (callee, given, around) => readBody(source, callee, given, around)),
    ...returns(body),
  ];
  return placed.sort((a, b) => a.at - b.at).flatMap(({ steps }) => steps);
};

/** Arithmetic that does not fit is told once for a whole handler: see `Step`. */
const refusal = (body: Body, at: number, condition: string, error: string): Step => {
  if (error === 'ArithmeticOverflow') return { kind: 'overflow', when: [] };
  // A condition that is a name alone is told by its meaning.
  const holds = body.meanings.get(condition) ?? condition;
  return {
    kind: 'require',
    when: conditionsAt(body, at),
    holds,
    names: explain(body.meanings, holds),
    error,
  };
};

const requires = (body: Body): Placed[] =>
  [...body.item.body.matchAll(/\brequire!(?=\()/g)].map(({ index, 0: { length } }) => {
    const open = index + length;
    const at = closeOf(body.item.body, open);
    const [condition = '', error = ''] = splitList(body.item.body.slice(open + 1, at));
    return { at, steps: [refusal(body, index, express(condition, body.bindings), error)] };
  });

/** Refusals that are written out, behind what they depend on. */
const errors = (body: Body): Placed[] => {
  const code = body.item.body;
  return [...code.matchAll(/\bEscrowError::(\w+)/g)].map(({ index: at, 1: error = '' }) => {
    const before = code.slice(0, at);
    const wrapped = /\.(?:map_err\(\|_\| |ok_or\()$/.exec(before);
    if (wrapped !== null) {
      const value = bindable(
        code.slice(chainStart(code, wrapped.index), wrapped.index),
        body.bindings,
      );
      return { at, steps: [refusal(body, at, `${value} succeeds`, error)] };
    }
    if (!/\bErr\($/.test(before)) throw new Error(`${body.item.file}: how is ${error} returned?`);
    return { at, steps: [refusal(body, at, alternative(body, at), error)] };
  });
};

/** Successful ends of the handler before its last line. */
const returns = (body: Body): Placed[] =>
  body.item.name !== 'process'
    ? []
    : [...body.item.body.matchAll(/\breturn Ok\(\(\)\)/g)].map(({ index: at }) => ({
        at,
        steps: [{ kind: 'done', when: conditionsAt(body, at) }],
      }));
