import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { createTracing, startRequestTrace } from '../../api/telemetry/tracing.ts';
import { createLogger } from '../../common/logger.ts';
import { startRunningService } from '../../testing/service/runningService.ts';

/** As OTLP's JSON form spells it. */
interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: object }[];
  status: { code: number };
}

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** What an OpenTelemetry collector is to a process that sends it traces. */
async function startCollector() {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const delivery = (await json(request)) as {
      resourceSpans: { scopeSpans: { spans: ReceivedSpan[] }[] }[];
    };
    bodies.push(JSON.stringify(delivery));
    const scopes = delivery.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans);
    spans.push(...scopes.flatMap((scope) => scope.spans));
    response.setHeader('content-type', 'application/json').end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  closing.push(close);
  return { url: `http://127.0.0.1:${port}`, spans, bodies, close };
}

const attributesOf = ({ attributes }: ReceivedSpan): Record<string, object> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value]));

describe('the traces of a running service', () => {
  it('contain a completion and its stages under the id of its job, and no text', async () => {
    const collector = await startCollector();
    const service = await startRunningService({
      apiSettings: { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` },
    });
    const { data, response } = await service
      .openai()
      .chat.completions.create({
        model: service.model.id,
        messages: [{ role: 'user', content: 'a private prompt' }],
      })
      .withResponse();
    await service.close();

    const [root] = collector.spans.filter(({ name }) => name === 'POST /v1/chat/completions');
    if (!root) throw new Error('the request has no span');
    expect(root.parentSpanId).toBeUndefined();
    expect(attributesOf(root)).toMatchObject({
      'http.request.method': { stringValue: 'POST' },
      'http.route': { stringValue: '/v1/chat/completions' },
      'http.response.status_code': { intValue: 200 },
      'svc.job_id': { stringValue: response.headers.get('x-svc-job-id') },
      'svc.request_id': { stringValue: response.headers.get('x-request-id') },
    });
    const stages = collector.spans.filter(({ parentSpanId }) => parentSpanId === root.spanId);
    expect(stages.map(({ name }) => name)).toEqual(['lock', 'worker', 'settle', 'mirror']);
    for (const [index, stage] of stages.entries()) {
      expect(stage.traceId).toBe(root.traceId);
      const before = stages[index - 1];
      if (before) expect(stage.startTimeUnixNano).toBe(before.endTimeUnixNano);
    }
    const sent = collector.bodies.join();
    expect(sent).not.toContain('private prompt');
    expect(sent).not.toContain(service.apiKey);
    expect(sent).not.toContain(data.choices[0]?.message.content);
  });
});

describe('a trace', () => {
  const answer = { method: 'GET', route: '/v1/jobs', code: 'none', requestId: 'req_1' };

  it('marks a server error, and leaves a client’s disconnect without a status', async () => {
    const collector = await startCollector();
    const logger = createLogger({ name: 'test', level: 'silent' });
    const tracing = await createTracing({ collectorUrl: collector.url, ratio: 1, logger });
    const end = (status: string, code: string) =>
      startRequestTrace(tracing.tracer).end({ ...answer, status, code, jobId: undefined });
    end('503', 'service_unavailable');
    end('left', 'none');
    await tracing.close();

    const [failed, left] = collector.spans;
    if (!failed || !left) throw new Error('two requests were traced');
    expect(failed.status.code).toBe(2);
    expect(attributesOf(failed)['error.type']).toEqual({ stringValue: 'service_unavailable' });
    expect(left.status.code).toBe(0);
    expect(attributesOf(left)).not.toHaveProperty(['http.response.status_code']);
  });

  it('is dropped and logged when no collector accepts it', async () => {
    const collector = await startCollector();
    await collector.close();
    const lines: string[] = [];
    const into = new Writable({
      write(line, _encoding, done) {
        lines.push(String(line));
        done();
      },
    });
    const { url: collectorUrl } = collector;
    const logger = pino(into);
    const tracing = await createTracing({ collectorUrl, ratio: 1, logger, exportTimeoutMs: 200 });
    startRequestTrace(tracing.tracer).end({ ...answer, status: '200', jobId: undefined });

    await tracing.close();

    expect(lines.join()).toContain('Failed to deliver traces');
  });
});
