import type { Prose } from './prose.ts';
import { longSentences } from './sentences.ts';

/** Words for which the field has plainer ones. */
const BANNED =
  /\b(told|tells?|nobody|whoever|whom|anew|meanwhile|under way|hence|thereby|whatever)\b/i;
/** What is code rather than a sentence: SQL, a document, a call, a list of columns, an address. */
const IS_CODE = /[{}<>;=]|\b(select|insert into|update|delete from)\b|:\/\/|[a-z]_[a-z]+,/i;

/** @returns the banned word in a comment, a string or a name such as `isUnderWay` */
export function bannedWord({ kind, text }: Prose): string | undefined {
  const words = kind === 'name' ? text.replaceAll(/(?<=[a-z\d])(?=[A-Z])|_/g, ' ') : text;
  return BANNED.exec(words)?.[0];
}

/** @returns the sentences of a comment or a string that are too long for one reading */
export function tooLong({ kind, text }: Prose): string[] {
  if (kind === 'name') return [];
  // A tag begins a sentence of its own. Code in a string has none, and the linter's marks are no prose.
  return longSentences(
    text.replaceAll(/^\s*biome-ignore.*$/gm, '').replaceAll(/^\s*(?=@\w)/gm, '\n'),
  )
    .filter((sentence) => kind === 'comment' || !IS_CODE.test(sentence.text))
    .map((sentence) => `${sentence.words} words: ${sentence.text.trim()}`);
}

const SUBJECT_MAX = 72;

/** @returns what is wrong with the message of a commit */
export function faultsOfMessage(message: string): string[] {
  const [subject = ''] = message.split('\n');
  const word = BANNED.exec(message)?.[0];
  return [
    ...(subject.length > SUBJECT_MAX ? [`${subject.length} characters: ${subject}`] : []),
    ...(subject.includes(';') ? [`two changes: ${subject}`] : []),
    ...(word === undefined ? [] : [`the word "${word}": ${subject}`]),
    ...tooLong({ kind: 'comment', line: 1, text: message }),
  ];
}
