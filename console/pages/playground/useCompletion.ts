import { useQueryClient } from '@tanstack/react-query';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { useRef, useState } from 'react';
import type { ChatCompletionChunk, ErrorBody } from '../../../api/console/contracts/index.ts';
import { API, send } from '../../data/request.ts';
import type { CompletionRequest } from '../../data/samples.ts';

/** An answer as it comes. Milliseconds count from the moment the request was sent. */
export interface Answer {
  readonly text: string;
  /** What the model thought before. */
  readonly reasoning: string;
  readonly jobId: string | null;
  readonly isRunning: boolean;
  readonly headersMs: number | null;
  readonly firstTextMs: number | null;
  readonly endMs: number | null;
  readonly finishReason: string | null;
  readonly error: unknown;
}

const NOTHING: Answer = {
  text: '',
  reasoning: '',
  jobId: null,
  isRunning: true,
  headersMs: null,
  firstTextMs: null,
  endMs: null,
  finishReason: null,
  error: undefined,
};

/** The stream ended with an error of the service. */
class StreamError extends Error {
  override name = 'StreamError';
}

/** Asks one question at a time, and shows its answer while it comes. */
export function useCompletion() {
  const [answer, setAnswer] = useState<Answer>();
  const running = useRef<AbortController>(undefined);
  const client = useQueryClient();

  const ask = async (body: CompletionRequest): Promise<void> => {
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    const startedAtMs = performance.now();
    const elapsed = () => Math.round(performance.now() - startedAtMs);
    let current = NOTHING;
    const show = (changes: Partial<Answer>) => {
      current = { ...current, ...changes };
      if (running.current === abort) setAnswer(current);
    };
    show({});
    try {
      const response = await send('POST', `${API}/completions`, { body, signal: abort.signal });
      show({ jobId: response.headers.get('x-svc-job-id'), headersMs: elapsed() });
      for await (const chunk of chunksOf(response)) {
        const [choice] = chunk.choices;
        const piece = choice?.delta.content ?? '';
        show({
          text: current.text + piece,
          reasoning: current.reasoning + (choice?.delta.reasoning_content ?? ''),
          firstTextMs: current.firstTextMs ?? (piece ? elapsed() : null),
          finishReason: choice?.finish_reason ?? current.finishReason,
        });
      }
      show({ isRunning: false, endMs: elapsed() });
    } catch (error) {
      show({ isRunning: false, endMs: elapsed(), error: abort.signal.aborted ? undefined : error });
      // A refusal may be the first that the page learns of a key that was suspended or revoked.
      void client.invalidateQueries({ queryKey: ['/key'] });
    }
  };
  const stop = () => running.current?.abort();
  return { answer, ask, stop };
}

/** @throws StreamError with the service's words */
async function* chunksOf(response: Response): AsyncGenerator<ChatCompletionChunk> {
  if (response.body === null) return;
  const events = response.body
    .pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream());
  const reader = events.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done || value.data === '[DONE]') return;
    const chunk = JSON.parse(value.data) as ChatCompletionChunk | ErrorBody;
    if ('error' in chunk) throw new StreamError(chunk.error.message);
    yield chunk;
  }
}
