import type { AnswerDetails } from '../../statement.ts';
import { fieldOf, isObject } from './fields.ts';
import { SavedFileError } from './savedFile.ts';
import { toolCallsIn } from './toolCalls.ts';

/** The text of an answer, or of its chunks in their order. */
interface Joined extends Omit<AnswerDetails, 'finishReason' | 'truncated'> {
  readonly text: string;
  /** Undefined where the chunk with the finish reason is not there. */
  readonly finishReason: string | undefined;
}

/**
 * Joins the chunks of a stream, or takes a plain answer as it is.
 *
 * @param isStream whether these are the events of a stream, of which none is a plain answer
 * @throws SavedFileError for several answers, for a content that is no text, and for what one client may
 *   read otherwise than another
 */
export function joinParts(answers: readonly object[], isStream: boolean): Joined {
  const choices = answers.flatMap((answer) => choiceOf(fieldOf(answer, 'choices') as unknown[]));
  const isPlain = choices.some((choice) => fieldOf(choice, 'message') != null);
  if (isPlain && isStream) throw new SavedFileError('Its events hold a message for a delta.');
  if (isPlain && answers.length > 1) {
    throw new SavedFileError('It holds several answers: save one.');
  }
  const at = isPlain ? 'message' : 'delta';
  const ends = choices.filter(isLast).map((choice) => fieldOf(choice, 'finish_reason') as string);
  const [finishReason] = ends;
  if (ends.some((reason) => reason !== finishReason)) {
    throw new SavedFileError('Its parts name several finish reasons.');
  }
  const behind = choices.slice(choices.findIndex(isLast) + 1);
  if (finishReason !== undefined && holdsMore(behind, at)) {
    throw new SavedFileError('It goes on behind its finish reason.');
  }
  return { ...texts(choices, at), finishReason };
}

function holdsMore(choices: readonly unknown[], at: 'message' | 'delta'): boolean {
  const { text, reasoning, toolCalls } = texts(choices, at);
  return text !== '' || reasoning !== '' || toolCalls.length > 0;
}

/** Whether a choice has its finish reason. Some write an empty one where there is none yet. */
export function isLast(choice: unknown): boolean {
  const reason = fieldOf(choice, 'finish_reason');
  return typeof reason === 'string' && reason !== '';
}

/** Readers take the first one, the one of index 0, or join them: so there may be no other. */
function choiceOf(choices: readonly unknown[]): readonly unknown[] {
  const [choice] = choices;
  if (choices.length > 1 || (fieldOf(choice, 'index') ?? 0) !== 0) {
    throw new SavedFileError('It holds several choices, and one alone is proven.');
  }
  if (fieldOf(choice, 'message') != null && fieldOf(choice, 'delta') != null) {
    throw new SavedFileError('It holds both a message and a delta.');
  }
  return choices;
}

/** What clients act on or show in place of the content. */
const UNPROVEN = ['refusal', 'function_call', 'audio', 'reasoning'] as const;

/** Programs with fixed types write an empty text or object where a field is missing. */
export const isNothing = (value: unknown): boolean =>
  value == null ||
  value === '' ||
  (Array.isArray(value)
    ? value.length === 0
    : isObject(value) && Object.values(value).every(isNothing));

function texts(choices: readonly unknown[], at: 'message' | 'delta'): Omit<Joined, 'finishReason'> {
  const all = (field: string) =>
    choices.flatMap((choice) => {
      const text = fieldOf(fieldOf(choice, at), field);
      if (text == null) return [];
      if (typeof text !== 'string') throw new SavedFileError(`Its ${field} is no text.`);
      return [text];
    });
  for (const field of UNPROVEN) {
    const held = choices.map((choice) => fieldOf(fieldOf(choice, at), field));
    if (!held.every(isNothing)) throw new SavedFileError(`Its ${field} is not proven.`);
  }
  return {
    text: all('content').join(''),
    reasoning: all('reasoning_content').join(''),
    toolCalls: toolCallsIn(
      choices.map((choice) => fieldOf(fieldOf(choice, at), 'tool_calls')),
      at === 'delta',
    ),
  };
}
