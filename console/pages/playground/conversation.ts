import { type ToolCall, toolCallsAsJson } from '../../../programs/client/statement.ts';
import type { CompletionRequest } from '../../data/samples.ts';

/** What a turn of the conversation gives to those behind it. */
export interface Spoken {
  /** Null where it sends the results of the turn before, and nothing else. */
  readonly prompt: string | null;
  readonly answer: { readonly text: string; readonly calls: readonly ToolCall[] };
  /** Of the answer's calls, by their index; what is not there is empty. */
  readonly results: readonly string[];
}

/** The messages of these turns. Templates of models refuse two questions in a row. */
export const messagesOf = (turns: readonly Spoken[]): CompletionRequest['messages'] =>
  turns.filter(({ answer }) => answer.text !== '' || answer.calls.length > 0).flatMap(saidIn);

function saidIn({ prompt, answer: { text, calls }, results }: Spoken) {
  return [
    ...(prompt === null ? [] : [{ role: 'user', content: prompt }]),
    {
      role: 'assistant',
      content: text || null,
      ...(calls.length > 0 && { tool_calls: toolCallsAsJson(calls) }),
    },
    ...calls.map(({ id }, index) => ({
      role: 'tool',
      content: results[index] ?? '',
      tool_call_id: id,
    })),
  ];
}

/** The turns without those that only go on from the calls of this one, which are of no use without. */
export function endedAt<Turn extends Pick<Spoken, 'prompt'> & { readonly id: number }>(
  turns: readonly Turn[],
  id: number,
): readonly Turn[] {
  const behind = turns.findIndex((turn) => turn.id === id) + 1;
  const next = turns.findIndex(({ prompt }, index) => index >= behind && prompt !== null);
  return [...turns.slice(0, behind), ...(next === -1 ? [] : turns.slice(next))];
}
