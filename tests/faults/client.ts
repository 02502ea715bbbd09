import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http from 'node:http';

/** What a client has of one request when it is over. */
export interface Received {
  /**
   * `whole`: every byte of an answer. `empty`: one without text or calls, as its request made it.
   * `error`: an error of the service. `left`: the client's own choice.
   */
  outcome: 'whole' | 'empty' | 'error' | 'left' | 'broken';
  status: number | undefined;
  jobId: string | undefined;
  text: string;
  /** Names and arguments of its calls, joined. */
  calls: string;
  completionTokens: number | undefined;
  errorCode: string | undefined;
  retryAfter: string | undefined;
  isReplay: boolean;
}

/** When the client closes its connection, if it does. */
export type Leaving = { afterMs: number } | 'at first text' | 'at done';

const DONE = 'data: [DONE]\n\n';

/** Sends one completion as written, and reads what comes, as a careful client does. */
export async function complete(options: {
  baseUrl: string;
  headers: Record<string, string>;
  body: string;
  leaving?: Leaving | undefined;
}): Promise<Received> {
  const { baseUrl, headers, body, leaving } = options;
  const request = http.request(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', ...headers },
  });
  let hasLeft = false;
  const leave = (): void => {
    hasLeft = true;
    request.destroy();
  };
  const timer = typeof leaving === 'object' ? setTimeout(leave, leaving.afterMs) : undefined;
  let response: IncomingMessage | undefined;
  let content = '';
  try {
    request.end(body);
    [response] = (await once(request, 'response')) as [IncomingMessage];
    for await (const piece of response.setEncoding('utf8')) {
      content += piece;
      if (leaving === 'at first text' && content.includes('"content":"')) leave();
      if (leaving === 'at done' && content.endsWith(DONE)) leave();
      if (hasLeft) break;
    }
    const received = judge(response, content);
    return hasLeft ? { ...received, outcome: 'left' } : received;
  } catch {
    const partial = response ? judge(response, content) : NOTHING;
    return { ...partial, outcome: hasLeft ? 'left' : 'broken' };
  } finally {
    clearTimeout(timer);
  }
}

const NOTHING: Received = {
  outcome: 'broken',
  status: undefined,
  jobId: undefined,
  text: '',
  calls: '',
  completionTokens: undefined,
  errorCode: undefined,
  retryAfter: undefined,
  isReplay: false,
};

function judge(response: IncomingMessage, content: string): Received {
  const { headers, statusCode: status } = response;
  const jobId = headers['x-svc-job-id'];
  const retryAfter = headers['retry-after'];
  const common = {
    ...NOTHING,
    status,
    jobId: typeof jobId === 'string' ? jobId : undefined,
    retryAfter,
    isReplay: headers['x-svc-replayed'] === 'true',
  };
  const isStream = headers['content-type']?.startsWith('text/event-stream') ?? false;
  return { ...common, ...(isStream ? judgeStream(content) : judgePlain(status, content)) };
}

function judgePlain(status: number | undefined, content: string): Partial<Received> {
  let body: {
    error?: { code: string };
    choices?: { message: Said }[];
    usage?: { completion_tokens: number };
  };
  try {
    body = JSON.parse(content);
  } catch {
    return { outcome: 'broken' };
  }
  if (status !== 200) return { outcome: 'error', errorCode: body.error?.code };
  const said = partsOf([body.choices?.[0]?.message]);
  return {
    outcome: isEmpty(said) ? 'empty' : 'whole',
    ...said,
    completionTokens: body.usage?.completion_tokens,
  };
}

/** A message, or a delta of one. */
interface Said {
  content?: string | null;
  tool_calls?: { function: { name?: string; arguments?: string } }[];
}

function partsOf(all: readonly (Said | undefined)[]): { text: string; calls: string } {
  const called = all.flatMap((said) => said?.tool_calls ?? []);
  return {
    text: all.map((said) => said?.content ?? '').join(''),
    calls: called.map(({ function: { name = '', arguments: text = '' } }) => name + text).join(''),
  };
}

const isEmpty = ({ text, calls }: { text: string; calls: string }): boolean => text + calls === '';

interface Chunk {
  error?: { code: string };
  choices?: { delta?: Said }[];
  usage?: { completion_tokens: number } | null;
}

function judgeStream(content: string): Partial<Received> {
  const events = content.split('\n\n').slice(0, -1);
  const data = events.flatMap((event) => (event.startsWith('data: ') ? event.slice(6) : []));
  const isDone = data.at(-1) === '[DONE]';
  const chunks = data.filter((each) => each !== '[DONE]').map((each) => JSON.parse(each) as Chunk);
  const said = partsOf(chunks.map(({ choices }) => choices?.[0]?.delta));
  const errorCode = chunks.find(({ error }) => error)?.error?.code;
  const completionTokens = chunks.findLast(({ usage }) => usage)?.usage?.completion_tokens;
  const ended = isEmpty(said) ? 'empty' : 'whole';
  const outcome = isDone ? ended : errorCode !== undefined ? 'error' : 'broken';
  return { outcome, ...said, errorCode, completionTokens };
}

export const sha256Hex = (text: string): string =>
  createHash('sha256').update(text, 'utf8').digest('hex');
