import { sha256 } from '#platform';
import { bytesToHex, concatBytes, utf8 } from './platform/bytes.ts';
import { canonicalJson, hasHalfCharacter } from './proof.ts';

/** A call of a function that an answer asks its client for. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** As the model wrote them: JSON where it could, cut where its answer was. */
  readonly arguments: string;
}

/** What an answer says beside its text. */
export interface AnswerDetails {
  /** As the client reads it. */
  readonly finishReason: string;
  /** Set where the job's end cut the answer off. */
  readonly truncated: 'deadline' | null;
  /** All of it, joined; empty where the model wrote none. */
  readonly reasoning: string;
  /** In the order of their index. */
  readonly toolCalls: readonly ToolCall[];
}

/**
 * The half of a statement that the answer gives (32 bytes): the sha256 of its details in the canonical
 * form.
 *
 * @throws RangeError for half of a character
 */
export function answerDetails(answer: AnswerDetails): Uint8Array {
  const { finishReason, truncated, reasoning, toolCalls } = answer;
  if (hasHalfCharacter(reasoning)) throw new RangeError('The reasoning has half of a character');
  const calls = toolCallsAsJson(toolCalls);
  const details = {
    finish_reason: finishReason,
    truncated,
    reasoning: reasoning === '' ? null : hashed(reasoning),
    tool_calls: calls.length === 0 ? null : hashed(canonicalJson(calls)),
  };
  return sha256(utf8(canonicalJson(details)));
}

/**
 * What a proof and a delivery receipt end with (32 bytes). It binds question and answer, and either
 * can be checked with the other's half alone.
 *
 * @param halves 32 bytes each, as `requestCommitment` and `answerDetails` make them
 */
export function statementOf(halves: {
  readonly requestCommitment: Uint8Array;
  readonly answerDetails: Uint8Array;
}): Uint8Array {
  return sha256(concatBytes(halves.requestCommitment, halves.answerDetails));
}

/** The calls as an answer and a conversation have them. */
export const toolCallsAsJson = (calls: readonly ToolCall[]) =>
  calls.map(({ id, ...called }) => ({ id, type: 'function' as const, function: called }));

const hashed = (text: string): string => bytesToHex(sha256(utf8(text)));
