import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ModelDetail, StatusAnswer, WorkerDetail } from '../../../api/contracts/network.ts';
import { insertSightings, percentileOf } from '../../../api/sql/workerHours.ts';
import { createMirrorLag } from '../../../api/status/parts.ts';
import { callLedger } from '../../../testing/ledger/ledger.ts';
import {
  type RunningService,
  startRunningService,
} from '../../../testing/service/runningService.ts';
import { until } from '../../../testing/until.ts';
import { createScriptedEngine } from '../../../testing/workers/engines.ts';
import { type CallConsole, consoleAt } from './consoleScene.ts';

let service: RunningService;
let call: CallConsole;
let address: string;

beforeAll(async () => {
  service = await startRunningService({ workers: [createScriptedEngine()] });
  call = consoleAt(service.baseUrl, new URL(service.baseUrl).origin, { isReal: true });
  await service.openai().chat.completions.create({
    model: service.model.id,
    messages: [{ role: 'user', content: 'Hello.' }],
  });
  await until(async () => {
    const { rows } = await service.pool.query('select worker from service.worker_hours');
    address = rows[0]?.worker;
    return rows.length > 0;
  });
});

afterAll(() => service?.close());

describe('what everybody may see', () => {
  it('has live numbers and the catalog', async () => {
    const { body } = await call('GET /network');

    expect(body).toMatchObject({ models: 1, workers: 1, jobs_settled_24h: 1 });
    expect(body.credits_charged_24h).toBeGreaterThan(0);
    // A median may be five seconds old.
    await service.untilShown(
      async () => (await call('GET /network')).body.first_token_p50_ms !== null,
    );
    const [model] = (await call('GET /models')).body.data;
    expect(model).toMatchObject({ id: service.model.id, jobs_24h: 1, svc: { active_workers: 1 } });
  });

  it('has each model with its days, and the workers that host it', async () => {
    let body: ModelDetail | undefined;
    await until(async () => {
      body = (await call(`GET /models/${service.model.id}`)).body as ModelDetail;
      return body.days.length > 0 && body.jobs_24h === 1;
    });
    expect(body).toMatchObject({
      id: service.model.id,
      svc: { card: null, card_hash: null },
    });
    const own = body?.workers.find((worker) => worker.address === address);
    expect(own).toMatchObject({ is_answering: true, models: [service.model.id] });
    expect(own?.first_token_p50_ms).toBeGreaterThanOrEqual(1);
    const days = body?.days ?? [];
    expect(days.reduce((sum, { jobs }) => sum + jobs, 0)).toBe(1);
    expect(days.at(-1)?.first_token_p50_ms).toBeGreaterThanOrEqual(1);

    const unknown = await call('GET /models/unknown');
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'model_not_found']);
  });

  it('has each worker with its uptime, and one with its hours and slashes', async () => {
    const list = (await call('GET /workers')).body;
    expect(list.data.map((worker: { address: string }) => worker.address)).toContain(address);
    let body: WorkerDetail | undefined;
    // One hour, or two when it has changed since.
    const sum = (name: 'answered' | 'failures' | 'jobs' | 'probes') =>
      (body?.hours ?? []).reduce((total, hour) => total + hour[name], 0);
    // The share is read apart from the hours, and a probe may come in between.
    await until(async () => {
      body = (await call(`GET /workers/${address}`)).body as WorkerDetail;
      return sum('answered') > 0 && body.uptime_24h === sum('answered') / sum('probes');
    });
    expect(body).toMatchObject({
      address,
      is_answering: true,
      jobs_settled: 1,
      models: [service.model.id],
      slashes: [],
    });
    expect([sum('jobs'), sum('failures')]).toEqual([1, 0]);
    const unknown = await call('GET /workers/unknown');
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'worker_not_found']);
  });

  it('has a mirror that lacks nothing, however long the ledger is quiet', async () => {
    await callLedger(service.ledger.rpcUrl, 'localnet_skipSlots', [1_000]);
    const slot = await callLedger<number>(service.ledger.rpcUrl, 'getSlot', []);
    let body: StatusAnswer | undefined;
    await until(async () => {
      body = (await call('GET /status')).body as StatusAnswer;
      return body.mirror.lag_slots === 0;
    });
    expect(body?.parts.mirror).toBe('ok');
    expect(body?.mirror.newest_slot).toBeLessThan(slot);
  });
});

describe('the mirror', () => {
  const lagAt = (...notes: readonly (readonly [atMs: number, slot: number])[]) => {
    let nowMs = 0;
    const lag = createMirrorLag(() => nowMs);
    for (const [atMs, slot] of notes) {
      nowMs = atMs;
      lag.note(slot);
    }
    return lag;
  };

  it.each([
    ['unknown', 'before anything is known', lagAt(), 10],
    [
      'unknown',
      'while it lacks slots that are newer than 30 s',
      lagAt([0, 100], [29_999, 150]),
      99,
    ],
    ['ok', 'as soon as it has a slot of the last 30 s', lagAt([0, 100], [5_000, 110]), 100],
    ['away', 'once it lacks a slot that is 30 s old', lagAt([0, 100], [30_000, 150]), 99],
    ['ok', 'with a slot of 29.999 s ago', lagAt([0, 100], [29_999, 150]), 100],
    ['unknown', 'when the ledger was last asked long ago', lagAt([0, 100], [90_000, 400]), 200],
    ['ok', 'with the newest slot after a long pause', lagAt([0, 100], [90_000, 400]), 400],
    ['away', 'while it holds nothing', lagAt([0, 100]), null],
  ] as const)('is %s %s', (state, _when, lag, slot) => {
    expect(lag.judge(slot)).toBe(state);
  });
});

describe('the hours of a worker', () => {
  it('are those in which it was probed', async () => {
    await service.pool.query(
      `insert into service.worker_hours (worker, model_id, hour, first_tokens, first_token_classes)
       select worker, model_id, hour - interval '50 hours', first_tokens, first_token_classes
       from service.worker_hours where worker = $1`,
      [address],
    );
    const { body } = await call(`GET /workers/${address}`);
    expect(body.hours.length).toBeGreaterThan(0);
    expect(body.hours.filter(({ probes }: { probes: number }) => probes === 0)).toEqual([]);
  });

  const sightings = (milliseconds: readonly number[]) =>
    milliseconds.map((ms) => ({ worker: 'w', kind: 'first_token', modelId: 'm', ms }) as const);

  it('add up over batches, with percentiles within a tenth', async () => {
    const measured = Array.from({ length: 100 }, (_, place) => 10 * (place + 1));
    await insertSightings(service.pool, sightings(measured.slice(0, 40)));
    await insertSightings(service.pool, [
      ...sightings(measured.slice(40)),
      { worker: 'w', kind: 'failure', modelId: 'm' },
      { worker: 'w', kind: 'probe', isAnswered: true },
      { worker: 'w', kind: 'probe', isAnswered: false },
    ]);

    const { rows } = await service.pool.query(
      `select first_tokens, failures, first_token_classes as classes, probes, answered
       from service.worker_hours join service.worker_probes using (worker, hour)
       where worker = 'w'`,
    );
    expect(rows).toMatchObject([{ first_tokens: 100, failures: 1, probes: 2, answered: 1 }]);
    for (const [share, ms] of [
      [0.25, 250],
      [0.5, 500],
      [0.75, 750],
      [0.95, 950],
    ] as const) {
      const found = percentileOf(rows[0].classes, share) ?? 0;
      expect(found / ms).toBeGreaterThan(0.9);
      expect(found / ms).toBeLessThan(1.1);
    }
  });

  it('have no percentile where nothing was measured', () => {
    expect(percentileOf([], 0.5)).toBeNull();
    expect(percentileOf([0, 0], 0.5)).toBeNull();
  });
});
