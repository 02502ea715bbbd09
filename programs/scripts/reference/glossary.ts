import type { RustFunction, RustSource } from './rustSource.ts';
import { oneLine } from './rustText.ts';
import type { Step } from './steps.ts';

/** `credit_account` → `CreditAccount` */
const typeName = (name: string): string =>
  name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** A method of a name or of what a method without arguments gives, or a function. */
const CALL = /(?:\b(\w+)(?:\(\))?\.|::|(?<![.\w]))(\w+)\(/g;

const find = (source: RustSource, file: string, subject: string, name: string) =>
  subject === '' ? source.find(file, '', name) : source.find(file, typeName(subject), name);

/** What a function gives: its one expression, in terms of what it is asked of. */
const expression = (item: RustFunction, subject: string): string => {
  const body = oneLine(item.body);
  const isGetter = body === `self.${item.name}.get()`;
  return isGetter || /[;{]/.test(body) ? '' : body.replace(/\bself\b/g, subject);
};

const firstSentence = (docs: string): string => docs.replace(/\. .*$/s, '.');

/** The program's own functions that the checks of a handler ask, each with what it means. */
export const findWords = (
  source: RustSource,
  file: string,
  steps: readonly Step[],
): { call: string; docs: string; gives: string }[] => {
  const words = new Map<string, { call: string; docs: string; gives: string }>();
  const read = (text: string): void => {
    for (const [, subject = '', name = ''] of text.matchAll(CALL)) {
      const item = find(source, file, subject, name);
      const parameters = item?.parameters.map((parameter) => parameter.name).join(', ');
      const call = `${subject}${subject && '.'}${name}(${parameters})`;
      if (item === undefined || words.has(call)) continue;
      const gives = expression(item, subject);
      if (gives === '' && item.docs === '') continue;
      words.set(call, { call, docs: firstSentence(item.docs), gives });
      read(gives);
    }
  };
  for (const step of steps) {
    if ('holds' in step) read(step.holds);
    for (const [, meaning] of 'names' in step ? step.names : []) read(meaning);
    for (const condition of step.when) read(condition);
  }
  return [...words.values()];
};
