import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http from 'node:http';
import { type Route, readOutput } from '../../testing/service/formats.ts';

/** What a client has of one request when it is over. */
export interface Received {
  /**
   * `whole`: every byte of an answer. `empty`: one without text or calls, as its request made it.
   * `error`: an error of the service. `left`: the client's own choice.
   */
  outcome: 'whole' | 'empty' | 'error' | 'left' | 'broken';
  status: number | undefined;
  jobId: string | undefined;
  /** Of a whole answer. */
  text: string;
  completionTokens: number | undefined;
  errorCode: string | undefined;
  retryAfter: string | undefined;
  isReplay: boolean;
}

/** When the client closes its connection, if it does. */
export type Leaving = { afterMs: number } | 'at first text' | 'at done';

const DONE = 'data: [DONE]\n\n';

/**
 * Sends one request as written, and reads what comes, as a careful client does.
 *
 * @throws AssertionError for an answer that clients read one way or another
 */
export async function complete(options: {
  baseUrl: string;
  route?: Route;
  headers: Record<string, string>;
  body: string;
  leaving?: Leaving | undefined;
}): Promise<Received> {
  const { baseUrl, route = 'chat/completions', headers, body, leaving } = options;
  const request = http.request(`${baseUrl}/v1/${route}`, {
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
      if (leaving === 'at first text' && FIRST_TEXT.test(content)) leave();
      if (leaving === 'at done' && content.endsWith(DONE)) leave();
      if (hasLeft) break;
    }
  } catch {
    return { ...namedBy(response), outcome: hasLeft ? 'left' : 'broken' };
  } finally {
    clearTimeout(timer);
  }
  if (hasLeft) return { ...namedBy(response), outcome: 'left' };
  return { ...namedBy(response), ...judge(response, content) };
}

/** A delta of either format. */
const FIRST_TEXT = /"content":"|\.delta"/;

/** What the headers say, if they came. */
function namedBy(response: IncomingMessage | undefined): Received {
  const { headers = {}, statusCode: status } = response ?? {};
  const jobId = headers['x-svc-job-id'];
  return {
    ...{ outcome: 'broken', status, text: '', completionTokens: undefined, errorCode: undefined },
    jobId: typeof jobId === 'string' ? jobId : undefined,
    retryAfter: headers['retry-after'],
    isReplay: headers['x-svc-replayed'] === 'true',
  };
}

function judge({ headers }: IncomingMessage, content: string) {
  const isStream = headers['content-type']?.startsWith('text/event-stream') ?? false;
  const jobId = headers['x-svc-job-id'] as string | undefined;
  const { text, calls, completionTokens, error } = readOutput(content, isStream, jobId);
  if (error) return { outcome: 'error', errorCode: error.code } as const;
  const outcome = text === '' && calls.length === 0 ? 'empty' : 'whole';
  return { outcome, text, completionTokens } as const;
}

export const sha256Hex = (text: string): string =>
  createHash('sha256').update(text, 'utf8').digest('hex');
