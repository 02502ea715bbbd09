import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import http from 'node:http';
import type { ErrorBody } from '../../api/http/contracts/errors.ts';
import { until } from '../until.ts';
import type { RunningService } from './runningService.ts';

export const FORMS = ['plain', 'stream'] as const;
export type Form = (typeof FORMS)[number];

const DONE = 'data: [DONE]\n\n';

/** A completion as it comes over the wire, with what no client library shows. */
export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  trailers: NodeJS.Dict<string>;
  body: string;
  /** For how long a stream was held open after its `[DONE]`. */
  heldOpenMs: number | undefined;
  /** Of an error status, or of the event that ended a stream. */
  error: ErrorBody['error'] | undefined;
}

interface Asking {
  form: Form;
  apiKey?: string;
  headers?: Record<string, string>;
  body?: Record<string, unknown>;
}

/** Sends a completion and yields its response as soon as the head of it has come. */
export async function openCompletion(
  service: Pick<RunningService, 'baseUrl' | 'apiKey' | 'model'>,
  { form, apiKey = service.apiKey, headers = {}, body = {} }: Asking,
): Promise<IncomingMessage> {
  const request = http.request(`${service.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${apiKey}`, ...headers },
  });
  const messages = [{ role: 'user', content: 'Say hello.' }];
  const stream = form === 'stream';
  request.end(JSON.stringify({ model: service.model.id, messages, stream, ...body }));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

export async function readAnswer(response: IncomingMessage): Promise<Answer> {
  let body = '';
  let doneMs: number | undefined;
  for await (const piece of response.setEncoding('utf8')) {
    body += piece;
    if (body.endsWith(DONE)) doneMs ??= performance.now();
  }
  const heldOpenMs = doneMs === undefined ? undefined : performance.now() - doneMs;
  const last = body
    .trimEnd()
    .split('\n')
    .at(-1)
    ?.replace(/^data: /, '');
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    trailers: response.trailers,
    body,
    heldOpenMs,
    error: last && last !== '[DONE]' ? JSON.parse(last).error : undefined,
  };
}

export async function askCompletion(
  service: Pick<RunningService, 'baseUrl' | 'apiKey' | 'model'>,
  asking: Asking,
): Promise<Answer> {
  return readAnswer(await openCompletion(service, asking));
}

/** The samples of a page in Prometheus's text form, by name and labels. */
export function samplesOf(page: string): Map<string, number> {
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const split = line.lastIndexOf(' ');
      return [line.slice(0, split), Number(line.slice(split + 1))];
    }),
  );
}

type Sampled = Pick<RunningService, 'metricsUrl'>;

/** What the API shows, which has METRICS_PORT among its settings; undefined where it shows nothing. */
export async function sample({ metricsUrl }: Sampled, name: string): Promise<number | undefined> {
  const response = await fetch(String(metricsUrl));
  return samplesOf(await response.text()).get(name);
}

/** Waits until the API shows a value of which it holds. */
export async function untilSampled(
  service: Sampled,
  name: string,
  holds: (value: number) => boolean,
): Promise<void> {
  await until(async () => {
    const value = await sample(service, name);
    return value !== undefined && holds(value);
  });
}
