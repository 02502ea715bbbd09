import { SavedFileError } from './savedFile.ts';

/** The text of an answer, or of its chunks in their order. */
interface Joined {
  readonly text: string;
  readonly reasoning: string | undefined;
  /** Whether the chunk with the finish reason is there. */
  readonly isWhole: boolean;
}

/**
 * Joins the chunks of a stream, or takes a plain answer as it is.
 *
 * @throws SavedFileError for several answers, and for a content that is no text
 */
export function joinParts(answers: readonly object[]): Joined {
  const choices = answers.flatMap((answer) =>
    (fieldOf(answer, 'choices') as unknown[]).slice(0, 1),
  );
  const messages = choices.filter((choice) => isObject(fieldOf(choice, 'message')));
  if (messages.length > 0) {
    if (answers.length > 1) throw new SavedFileError('It holds several answers: save one.');
    return { ...texts(choices, 'message'), isWhole: true };
  }
  const isWhole = choices.some((choice) => typeof fieldOf(choice, 'finish_reason') === 'string');
  return { ...texts(choices, 'delta'), isWhole };
}

function texts(choices: readonly unknown[], at: 'message' | 'delta'): Omit<Joined, 'isWhole'> {
  const all = (field: string) =>
    choices.flatMap((choice) => {
      const text = fieldOf(fieldOf(choice, at), field);
      if (text == null) return [];
      if (typeof text !== 'string') throw new SavedFileError(`Its ${field} is no text.`);
      return [text];
    });
  const reasoning = all('reasoning_content');
  return {
    text: all('content').join(''),
    reasoning: reasoning.length > 0 ? reasoning.join('') : undefined,
  };
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const fieldOf = (value: unknown, field: string): unknown =>
  isObject(value) ? value[field] : undefined;

const SHOWN_MAX = 300;

/** What a file says, as part of a sentence: in one line, without what steers a terminal. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : 'nothing';
  const plain = text
    .slice(0, 2 * SHOWN_MAX)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  return plain.length > SHOWN_MAX ? `${plain.slice(0, SHOWN_MAX)}…` : plain;
}
