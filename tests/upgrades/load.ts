import { randomUUID } from 'node:crypto';
import OpenAI from 'openai';

/** What a client has of one completion. */
export interface Answer {
  jobId: string;
  text: string;
}

/** Requests that run until they are stopped. */
export interface Load {
  /** Those that came whole so far. */
  answers: readonly Answer[];
  /** What the official client gave up with, after its own retries. */
  losses: readonly string[];
  /** Waits for this many more whole answers. */
  more(count: number): Promise<void>;
  /** Ends after the last running job. */
  stop(): Promise<void>;
}

/** A service as its clients know it. */
export interface Service {
  baseUrl: string;
  apiKey: string;
  modelId: string;
}

/**
 * One completion by the official client, with its default retries.
 *
 * @throws its error, or one that says what is missing of an answer
 */
export async function ask(
  { baseUrl, apiKey, modelId: model }: Service,
  request: { content: string; isStream: boolean; idempotencyKey?: string },
): Promise<Answer> {
  const { content, isStream, idempotencyKey } = request;
  const { completions } = new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey }).chat;
  const body = { model, messages: [{ role: 'user' as const, content }] };
  const options = idempotencyKey ? { headers: { 'idempotency-key': idempotencyKey } } : {};
  if (!isStream) {
    const { data, response } = await completions.create(body, options).withResponse();
    const { message, finish_reason } = data.choices[0] ?? {};
    return answerOf(response, { text: message?.content, finish_reason });
  }
  const { data, response } = await completions
    .create({ ...body, stream: true }, options)
    .withResponse();
  let text = '';
  let finishReason: string | null | undefined;
  for await (const { choices } of data) {
    text += choices[0]?.delta.content ?? '';
    finishReason ??= choices[0]?.finish_reason;
  }
  return answerOf(response, { text, finish_reason: finishReason });
}

function answerOf(
  response: Response,
  {
    text,
    finish_reason,
  }: { text?: string | null | undefined; finish_reason?: string | null | undefined },
): Answer {
  const jobId = response.headers.get('x-svc-job-id');
  if (jobId === null) throw new Error('The answer names no job.');
  if (!text || !finish_reason) throw new Error(`The answer of ${jobId} is not whole.`);
  return { jobId, text };
}

/** Clients that ask one request after another, streamed and plain in turn. */
export function startLoad({ clients, ...service }: Service & { clients: number }): Load {
  const answers: Answer[] = [];
  const losses: string[] = [];
  let isStopped = false;
  let wake: () => void = () => undefined;

  async function run(index: number): Promise<void> {
    for (let turn = index; !isStopped; turn += 1) {
      try {
        answers.push(await ask(service, { content: randomUUID(), isStream: turn % 2 === 0 }));
      } catch (error) {
        losses.push(String(error));
      }
      wake();
    }
  }

  const running = Array.from({ length: clients }, (_, index) => run(index));
  return {
    answers,
    losses,
    async more(count) {
      const goal = answers.length + count;
      while (answers.length < goal) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}
