import { Writable } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { Escrow } from '../../api/ledger/escrow.ts';
import { observeEscrow } from '../../api/ledger/escrow.ts';
import type { LockedJob } from '../../api/ledger/job.ts';
import type { ProvenAnswer } from '../../api/ledger/proof.ts';
import type { Readiness } from '../../api/status/readiness.ts';
import { observeState } from '../../api/telemetry/gauges.ts';
import { createMetrics } from '../../api/telemetry/metrics.ts';
import { samplesOf } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { serveApp } from './serveApp.ts';

describe('the metrics of a running service', () => {
  let service: RunningService;

  beforeAll(async () => {
    service = await startRunningService({ apiSettings: { METRICS_PORT: '0' } });
  });

  afterAll(() => service.close());

  async function read(): Promise<Map<string, number>> {
    const response = await fetch(service.metricsUrl as string);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    return samplesOf(await response.text());
  }

  it('show each stage of a completion, its transactions, and how its job ended [surface.metrics]', async () => {
    const { model } = service;
    const messages = [{ role: 'user' as const, content: 'Say hello.' }];
    await service.openai().chat.completions.create({ model: model.id, messages });

    const samples = await read();

    for (const stage of ['lock', 'first_token', 'worker', 'settle', 'mirror']) {
      expect(samples.get(`svc_api_stage_seconds_count{stage="${stage}"}`)).toBe(1);
    }
    expect(samples.get('svc_api_jobs_total{end="settled"}')).toBe(1);
    expect(samples.get('svc_api_jobs_in_flight')).toBe(0);
    for (const lane of ['locks', 'settlements']) {
      const labels = `lane="${lane}",outcome="landed"`;
      expect(samples.get(`svc_api_transaction_seconds_count{${labels}}`)).toBe(1);
      expect(samples.get(`svc_api_transactions_in_flight{lane="${lane}"}`)).toBe(0);
    }
    const labels = 'method="POST",route="/v1/chat/completions",status="200",code="none"';
    expect(samples.get(`svc_api_requests_total{${labels}}`)).toBe(1);
    expect(samples.get('svc_api_workers')).toBe(1);
    expect(samples.get('svc_api_worker_slots')).toBeGreaterThan(0);
    expect(samples.get('svc_api_worker_slots_held')).toBe(0);
    const balances = [...samples].filter(([name]) =>
      name.startsWith('svc_api_fee_payer_lamports{'),
    );
    expect(balances).toHaveLength(1);
    expect(balances[0]?.[1]).toBeGreaterThan(0);
    // The local ledger's clock starts with this machine's.
    expect(Math.abs(samples.get('svc_api_ledger_clock_offset_seconds') ?? 99)).toBeLessThan(60);
  });

  it("are not served on the API's port [surface.metrics]", async () => {
    expect((await fetch(`${service.baseUrl}/metrics`)).status).toBe(404);
  });
});

describe('a job', () => {
  const job = { id: 'job_1' } as LockedJob;
  const ended = async (status: string) => ({ status, signature: null }) as never;
  const settle = ({ settle: move }: Escrow) => move(job, {} as ProvenAnswer, 1, Promise.resolve());
  const fail = ({ fail: move }: Escrow) => move(job, 'worker_error');

  it.each<[string, Partial<Escrow>, ((escrow: Escrow) => Promise<unknown>)[]]>([
    ['settled', { settle: () => ended('settled') }, [settle]],
    // Too late to settle.
    [
      'refunded',
      { settle: () => ended('overdue'), refund: () => ended('refunded') },
      [settle, ({ refund }) => refund(job)],
    ],
    ['failed', { fail: () => ended('failed') }, [fail, fail]],
    // This process cannot end it.
    ['left_to_keeper', { settle: () => Promise.reject(new Error('undecided')) }, [settle]],
  ])('is in flight from its lock on, and counted once as %s', async (end, moves, made) => {
    const metrics = createMetrics();
    const { escrow, observeLock } = observeEscrow(moves as Escrow, metrics);
    const counts = async () => {
      const samples = samplesOf(await metrics.registry.metrics());
      const ends = [...samples].filter(([name]) => name.startsWith('svc_api_jobs_total{'));
      return [samples.get('svc_api_jobs_in_flight'), Object.fromEntries(ends)];
    };
    await observeLock(job);
    for (const [index, move] of made.entries()) {
      if (end !== 'failed' || index === 0) expect(await counts()).toEqual([1, {}]);
      await move(escrow).catch(() => undefined);
    }
    expect(await counts()).toEqual([0, { [`svc_api_jobs_total{end="${end}"}`]: 1 }]);
  });
});

describe("the ledger's clock", () => {
  const offsetShown = async (clock: { isRead: boolean; offsetMs: number }) => {
    const registry = new Registry();
    observeState(registry, { clock, directory: { answering: () => [] } });
    const samples = samplesOf(await registry.metrics());
    return samples.get('svc_api_ledger_clock_offset_seconds');
  };

  it('shows no offset before it was read', async () => {
    expect(await offsetShown({ isRead: false, offsetMs: 0 })).toBeNaN();
    expect(await offsetShown({ isRead: true, offsetMs: -1_500 })).toBe(-1.5);
  });
});

describe('a request', () => {
  const lines: Record<string, unknown>[] = [];
  const metrics = createMetrics();
  const readiness = async () => ({ status: 'not_ready' as const, parts: {} as Readiness['parts'] });
  let app: Awaited<ReturnType<typeof serveApp>>;

  beforeAll(async () => {
    const into = new Writable({
      write(line, _encoding, done) {
        lines.push(JSON.parse(String(line)));
        done();
      },
    });
    const isDraining = () => false;
    app = await serveApp({
      metrics,
      readiness,
      isDraining,
      logger: pino({ level: 'debug' }, into),
    });
  });

  afterEach(() => void lines.splice(0));

  afterAll(() => app.close());

  const key = `svc_live_${'k'.repeat(32)}`;

  it('is counted and logged with its route, status and error [surface.access-log]', async () => {
    const job_id = 'job_019a9fd1c3b47c1e8f3a5d2b6c7e9f01';
    const response = await fetch(`${app.url}/v1/jobs/${job_id}?limit=5`);

    expect(lines).toEqual([
      expect.objectContaining({
        level: 30,
        msg: 'Answered a request',
        ...{ job_id, request_id: response.headers.get('x-request-id') },
        ...{ method: 'GET', route: '/v1/jobs/:job_id', status: '401', code: 'missing_api_key' },
        duration_ms: expect.any(Number),
      }),
    ]);
    const labels = 'method="GET",route="/v1/jobs/:job_id",status="401",code="missing_api_key"';
    const samples = samplesOf(await metrics.registry.metrics());
    expect(samples.get(`svc_api_requests_total{${labels}}`)).toBe(1);
    expect(samples.get('svc_api_requests_in_flight')).toBe(0);
  });

  it('is logged when it is a probe that failed', async () => {
    expect((await fetch(`${app.url}/ready`)).status).toBe(503);

    expect(lines).toMatchObject([{ level: 30, route: '/ready', status: '503' }]);
  });

  it('leaves nothing in the log that a client wrote [surface.access-log]', async () => {
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'a private prompt' }] });
    const headers = { authorization: `Bearer ${key}`, 'idempotency-key': 'a-private-key' };
    await fetch(`${app.url}/v1/jobs/${key}/dispute?q=private`, { method: 'POST', body, headers });
    await fetch(`${app.url}/${key}`, { headers });

    const logged = JSON.stringify(lines);
    expect(lines.length).toBeGreaterThanOrEqual(2);
    expect(logged).not.toMatch(/private|svc_live_/);
  });

  it('is counted without a route under one name, for any path', async () => {
    for (const path of ['/a', '/b', '/v1/c']) await fetch(app.url + path);

    const samples = samplesOf(await metrics.registry.metrics());
    const named = [...samples.keys()].filter((name) => name.includes('route_not_found'));
    expect(named).toEqual([
      'svc_api_requests_total{method="GET",route="none",status="404",code="route_not_found"}',
    ]);
  });
});
