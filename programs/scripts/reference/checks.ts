import { constantsIn } from './constants.ts';
import type { Interface } from './interface.ts';
import { code, errorLink, grouped, table } from './markdown.ts';
import type { RustSource } from './rustSource.ts';
import { errorsOf, type Reading, stepErrors } from './stepErrors.ts';
import type { Meaning, Step } from './steps.ts';

const conditionText = (when: string[]): string =>
  when
    .map((condition) => {
      const [, word = '', rest = ''] = /^(else if|else|if|unless|for) ?(.*)$/.exec(condition) ?? [];
      if (word === '') return `if ${code(condition)}`;
      if (word === 'else') return 'otherwise';
      return `${word === 'for' ? 'for each' : word.replace('else', 'otherwise')} ${code(rest)}`;
    })
    .join(', ');

const sentence = (step: Step): string => {
  switch (step.kind) {
    case 'arguments':
      return 'The data is the encoding of the arguments, and nothing more';
    case 'accounts':
      return 'The accounts are there, in order, each with its flags and its fixed address';
    case 'require':
      return step.holds.replace(
        /^(.+?)( succeeds| is (?:Some|Ok|one of .+))?$/,
        (_, asked: string, is = '') => `${code(asked)}${is}`,
      );
    case 'load':
      return `${code(step.account)} is a ${step.type} of this program`;
    case 'call':
      return step.instruction.includes(',')
        ? `The ${step.program} program accepts what is needed of ${code(step.instruction)}`
        : `The ${step.program} program accepts ${code(step.instruction)}`;
    case 'done':
      return '**Ends here, successfully and without a change**';
    default:
      return '';
  }
};

/** What names stand for, where one stands for the same thing in all checks of a handler. */
export const commonMeanings = ({ steps }: Reading): Map<string, string> => {
  const all = steps.flatMap((step) => ('names' in step ? step.names : []));
  const isCommon = ([name, meaning]: Meaning): boolean =>
    all.every(([other, meant]) => other !== name || meant === meaning);
  return new Map(all.filter(isCommon));
};

/** What another program refuses with. */
const OWN = "that program's own error";

/** Calls of one program in a row are its one service: an account is created, a payment made. */
const joinCalls = (steps: readonly Step[]): Step[] => {
  const joined: Step[] = [];
  for (const step of steps) {
    const last = joined.at(-1);
    if (step.kind !== 'call' || last?.kind !== 'call' || last.program !== step.program) {
      joined.push(step);
      continue;
    }
    const when = last.when.filter((condition) => step.when.includes(condition));
    const instruction = `${last.instruction}, ${step.instruction}`;
    joined[joined.length - 1] = { ...last, when, instruction };
  }
  return joined;
};

/** The checks of a handler in their order, as a table. */
export const checksTable = (reading: Reading): string => {
  const common = commonMeanings(reading);
  const shown = reading.steps.filter(({ kind }) => kind !== 'overflow' && kind !== 'invariant');
  const rows = joinCalls(shown).map((step) => {
    const names = 'names' in step ? step.names.filter(([name]) => !common.has(name)) : [];
    const meanings = names.map(([name, meaning]) => `${code(name)} is ${code(meaning)}`);
    const where = meanings.length === 0 ? '' : `, where ${meanings.join(' and ')}`;
    const errors = step.kind === 'call' ? OWN : stepErrors(reading, step).map(errorLink).join(', ');
    return [`${sentence(step)}${where}`, conditionText(step.when), errors];
  });
  // What is asked twice refuses the first time; another program is asked anew each time.
  const distinct = new Map(rows.map((row, index) => [row[2] === OWN ? index : row.join(), row]));
  const numbered = [...distinct.values()].map((row, index) => [`${index + 1}`, ...row]);
  return table(['', 'must hold', 'when', 'otherwise'], numbered);
};

/** What can go wrong at any point: sums that do not fit, accounts that would contradict themselves. */
export const checksNotes = (reading: Reading): string => {
  const kinds = new Set(reading.steps.map(({ kind }) => kind));
  const types = new Set(
    reading.steps.flatMap((step) => (step.kind === 'invariant' ? [step.type] : [])),
  );
  const overflow = `a number leaves its range (${errorLink('ArithmeticOverflow')})`;
  const invariant =
    `a changed account would contradict itself (${errorLink('InvariantViolated')}): ` +
    [...types].map((type) => `[${type}](accounts.md#${type.toLowerCase()})`).join(', ');
  const notes = [
    ...(kinds.has('overflow') ? [overflow] : []),
    ...(types.size > 0 ? [invariant] : []),
  ];
  return notes.length === 0 ? '' : `Refused at any point if ${notes.join(', or if ')}.\n\n`;
};

/** The numbers behind the names of constants in the checks. */
export const constantsNote = (source: RustSource, reading: Reading): string => {
  const text = reading.steps
    .flatMap((step) => ('holds' in step ? [step.holds, ...step.names.flat()] : []))
    .join(' ');
  const constants = [...constantsIn(source, text)];
  if (constants.length === 0) return '';
  const values = constants.map(([name, value]) => `${code(name)} = ${grouped(value)}`);
  return `Constants: ${values.join(', ')}.\n\n`;
};

/** The errors of an instruction with their numbers and messages. */
export const errorsTable = (idl: Interface, reading: Reading): string => {
  const names = errorsOf(reading);
  return table(
    ['number', 'error', 'message'],
    idl.errors
      .filter(({ name }) => names.has(name))
      .map(({ code: number, name, msg }) => [`${number}`, errorLink(name), msg]),
  );
};
