import { createParser, type EventSourceMessage } from 'eventsource-parser';

import type { ToolCall } from '../../programs/client/statement.ts';

/** A worker's whole answer, taken apart. */
export interface WorkerAnswer {
  text: string;
  finishReason: string | undefined;
  truncated: string | undefined;
  /** Role of the first chunk. */
  role: string | undefined;
  proof: Record<string, unknown> | undefined;
  error: { code: string } | undefined;
  /** `content` of every delta that had any. */
  deltas: string[];
  /** Joined by their index, as clients join them. */
  calls: ToolCall[];
}

/** Reads events as they arrive until the response ends; a broken connection throws. */
export async function* readEvents(response: Response): AsyncGenerator<EventSourceMessage> {
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    yield* messages.splice(0);
  }
}

/** @param onText called with each delta of text as it arrives */
export async function readAnswer(
  response: Response,
  onText: (text: string) => void = () => undefined,
): Promise<WorkerAnswer> {
  const answer: WorkerAnswer = {
    ...{
      text: '',
      deltas: [],
      calls: [],
      finishReason: undefined,
      truncated: undefined,
      role: undefined,
    },
    ...{ proof: undefined, error: undefined },
  };
  for await (const { event, data } of readEvents(response)) {
    const json = JSON.parse(data);
    if (event === 'proof') answer.proof = json;
    else if (event === 'error') answer.error = json.error;
    else if (event !== 'alive') {
      const { delta, finish_reason } = json.choices[0];
      answer.role ??= delta.role;
      if (delta.content) {
        answer.deltas.push(delta.content);
        onText(delta.content);
      }
      for (const call of delta.tool_calls ?? []) joinCall(answer.calls, call);
      answer.finishReason = finish_reason ?? answer.finishReason;
      answer.truncated ??= json.truncated;
    }
  }
  answer.text = answer.deltas.join('');
  return answer;
}

/** Joins a delta as official clients do: what is sent twice would stand there twice. */
function joinCall(
  calls: ToolCall[],
  delta: { index: number; id?: string; function: { name?: string; arguments?: string } },
): void {
  const { id = '', name = '', arguments: text = '' } = calls[delta.index] ?? {};
  calls[delta.index] = {
    id: id + (delta.id ?? ''),
    name: name + (delta.function.name ?? ''),
    arguments: text + (delta.function.arguments ?? ''),
  };
}
