import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import http from 'node:http';
import { until } from '../until.ts';
import { answerInTwoParts, type ScriptedEngine } from '../workers/engines.ts';
import { bodyFor, type Form, type Output, type Route, readOutput } from './formats.ts';
import type { RunningService } from './runningService.ts';

export { FORMS, type Form, ROUTED_FORMS, ROUTES, type Route, type RoutedForm } from './formats.ts';

/** A completion on the wire, with what client libraries hide. */
export interface Answer extends Output {
  status: number;
  headers: IncomingHttpHeaders;
  trailers: NodeJS.Dict<string>;
  body: string;
}

interface CompletionRequest {
  form: Form;
  route?: Route;
  apiKey?: string;
  headers?: Record<string, string>;
  /** Of a chat completion; another route gets the same in its own words. */
  body?: Record<string, unknown>;
  /** Aborts when the client leaves. */
  signal?: AbortSignal;
}

/** Sends a completion and returns its response once the headers have arrived. */
export async function openCompletion(
  service: Pick<RunningService, 'baseUrl' | 'apiKey' | 'model'>,
  { form, route = 'chat/completions', headers = {}, ...asked }: CompletionRequest,
): Promise<IncomingMessage> {
  const { apiKey = service.apiKey, body = {}, signal } = asked;
  const request = http.request(`${service.baseUrl}/v1/${route}`, {
    method: 'POST',
    agent: false,
    ...(signal && { signal }),
    headers: { authorization: `Bearer ${apiKey}`, ...headers },
  });
  const messages = [{ role: 'user', content: 'Say hello.' }];
  const isStream = form === 'stream';
  const streaming = isStream && { stream: true, stream_options: { include_usage: true } };
  const chat = { model: service.model.id, messages, ...streaming, ...body };
  request.end(JSON.stringify(bodyFor(route, chat)));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return response;
}

export async function readAnswer(response: IncomingMessage): Promise<Answer> {
  let body = '';
  for await (const piece of response.setEncoding('utf8')) body += piece;
  const { statusCode: status = 0, headers, trailers } = response;
  const isStream = headers['content-type']?.startsWith('text/event-stream') ?? false;
  const output = readOutput(body, isStream, headers['x-svc-job-id'] as string | undefined);
  return { status, headers, trailers, body, ...output };
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
