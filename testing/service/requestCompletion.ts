import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import http from 'node:http';
import type { ErrorBody } from '../../api/contracts/errors.ts';
import { until } from '../until.ts';
import { answerInTwoParts, type ScriptedEngine } from '../workers/engines.ts';
import type { RunningService } from './runningService.ts';

export const FORMS = ['plain', 'stream'] as const;
export type Form = (typeof FORMS)[number];

/** A completion on the wire, with what client libraries hide. */
export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  trailers: NodeJS.Dict<string>;
  body: string;
  /** The error of an error status, or of the event that ended a stream. */
  error: ErrorBody['error'] | undefined;
}

interface CompletionRequest {
  form: Form;
  apiKey?: string;
  headers?: Record<string, string>;
  body?: Record<string, unknown>;
}

/** Sends a completion and returns its response once the headers have arrived. */
export async function openCompletion(
  service: Pick<RunningService, 'baseUrl' | 'apiKey' | 'model'>,
  { form, apiKey = service.apiKey, headers = {}, body = {} }: CompletionRequest,
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
  for await (const piece of response.setEncoding('utf8')) body += piece;
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
    error: last && last !== '[DONE]' ? JSON.parse(last).error : undefined,
  };
}

export async function requestCompletion(
  service: Pick<RunningService, 'baseUrl' | 'apiKey' | 'model'>,
  asking: CompletionRequest,
): Promise<Answer> {
  return readAnswer(await openCompletion(service, asking));
}

/** The service could do nothing just now, and says when to come back. */
export function expectUnavailable({ status, headers, error }: Answer): void {
  const { code, type, param } = error ?? {};
  const refusal = { status, code, type, param, retryAfter: headers['retry-after'] };
  assert.deepEqual(refusal, {
    ...{ status: 503, code: 'service_unavailable', type: 'server_error', param: null },
    retryAfter: '5',
  });
}

/** A stream that has begun, and goes on to its end when the test says so. */
export async function openStream(
  service: Parameters<typeof openCompletion>[0],
  { engine, apiKey = service.apiKey }: { engine: ScriptedEngine; apiKey?: string },
) {
  const end = answerInTwoParts(engine);
  const response = await openCompletion(service, { form: 'stream', apiKey });
  return {
    headers: response.headers,
    end() {
      end();
      return readAnswer(response);
    },
  };
}

/** For official clients: one that is to retry does so at once, however long the answer says. */
export const fetchHastily: typeof fetch = async (...request) => {
  const { status, headers, body } = await fetch(...request);
  return new Response(body, { status, headers: [...headers, ['retry-after-ms', '1']] });
};

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

/** A metric of the API, when METRICS_PORT is set; undefined without a sample. */
export async function sample({ metricsUrl }: Sampled, name: string): Promise<number | undefined> {
  const response = await fetch(String(metricsUrl));
  return samplesOf(await response.text()).get(name);
}

/** Waits until a metric of the API satisfies the condition. */
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
