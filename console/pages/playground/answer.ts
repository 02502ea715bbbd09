import { createParser } from 'eventsource-parser';
import type { ChatCompletionChunk, ErrorBody } from '../../../api/contracts/index.ts';
import type { ToolCall } from '../../../programs/client/statement.ts';
import { toolCallsIn } from '../../../programs/client/verify/answer/toolCalls.ts';
import { API, send } from '../../data/request.ts';
import type { CompletionRequest } from '../../data/samples.ts';

/** An answer as it comes. Milliseconds count from the moment the request was sent. */
export interface Answer {
  readonly text: string;
  /** What the model thought before. */
  readonly reasoning: string;
  /** The calls of tools in it, as far as they have come. */
  readonly calls: readonly ToolCall[];
  /** The stream as it came. */
  readonly stream: string;
  readonly state: 'running' | 'whole' | 'stopped' | 'failed';
  readonly jobId: string | null;
  /** What it cost and what proves it, as its last chunk says. */
  readonly evidence: NonNullable<ChatCompletionChunk['svc']> | null;
  readonly firstTextMs: number | null;
  readonly endMs: number | null;
  readonly finishReason: string | null;
  readonly error: unknown;
}

export const NO_ANSWER: Answer = {
  text: '',
  reasoning: '',
  calls: [],
  stream: '',
  state: 'running',
  jobId: null,
  evidence: null,
  firstTextMs: null,
  endMs: null,
  finishReason: null,
  error: undefined,
};

/** The stream ended with an error of the service, or without an end. */
class StreamError extends Error {
  override name = 'StreamError';
}

/**
 * Asks, and shows the answer while it comes. It ends in a state, and throws nothing.
 *
 * @param show gets the whole answer each time more of it has come
 */
export async function receiveAnswer(
  request: CompletionRequest,
  { signal, show }: { readonly signal: AbortSignal; readonly show: (answer: Answer) => void },
): Promise<void> {
  const startedAtMs = performance.now();
  const elapsed = () => Math.round(performance.now() - startedAtMs);
  let current = NO_ANSWER;
  const change = (changes: Partial<Answer>) => {
    current = { ...current, ...changes };
  };
  try {
    const response = await send('POST', `${API}/chat/completions`, { body: request, signal });
    change({ jobId: response.headers.get('x-svc-job-id') });
    show(current);
    for await (const { piece, chunks } of piecesOf(response)) {
      change({ stream: current.stream + piece });
      for (const chunk of chunks) change(readChunk(current, chunk, elapsed));
      show(current);
    }
    change({ state: 'whole' });
  } catch (error) {
    change(signal.aborted ? { state: 'stopped' } : { state: 'failed', error });
  }
  change({ endMs: elapsed() });
  show(current);
}

/** A part of an answer, which has calls where tools were sent. */
type Delta = ChatCompletionChunk['choices'][number]['delta'] & {
  readonly tool_calls?: readonly object[] | undefined;
};

/**
 * The answer with what one more chunk says.
 *
 * @throws StreamError with the service's words
 * @throws SavedFileError for calls that one client may read otherwise than another
 */
export function readChunk(
  answer: Answer,
  chunk: ChatCompletionChunk | ErrorBody,
  elapsed: () => number,
): Partial<Answer> {
  if ('error' in chunk) throw new StreamError(chunk.error.message);
  const [choice] = chunk.choices;
  const delta: Delta = choice?.delta ?? {};
  const text = delta.content ?? '';
  const calls = delta.tool_calls ? withMore(answer.calls, delta.tool_calls) : answer.calls;
  return {
    text: answer.text + text,
    reasoning: answer.reasoning + (delta.reasoning_content ?? ''),
    calls,
    firstTextMs: answer.firstTextMs ?? (text || calls.length > 0 ? elapsed() : null),
    finishReason: choice?.finish_reason ?? answer.finishReason,
    evidence: chunk.svc ?? answer.evidence,
  };
}

/** The calls with what more of them has come, as a saved stream is read. */
function withMore(calls: readonly ToolCall[], more: readonly object[]): ToolCall[] {
  const before = calls.map(({ id, ...called }, index) => ({ index, id, function: called }));
  return toolCallsIn([before, more], true);
}

interface Piece {
  readonly piece: string;
  readonly chunks: readonly (ChatCompletionChunk | ErrorBody)[];
}

/** The stream as its bytes come, each time with the events that they end. @throws StreamError */
async function* piecesOf(response: Response): AsyncGenerator<Piece> {
  let events: string[] = [];
  const parser = createParser({ onEvent: ({ data }) => events.push(data) });
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    const piece = decoder.decode(read.value, { stream: true });
    parser.feed(piece);
    const isEnd = events.includes('[DONE]');
    const chunks = events.filter((data) => data !== '[DONE]').map((data) => JSON.parse(data));
    events = [];
    yield { piece, chunks };
    // The settlement follows in trailers, which no browser shows.
    if (isEnd) return;
  }
  throw new StreamError('The answer broke off before its end.');
}
