import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { serveMetrics } from '../../common/net/serveMetrics.ts';
import { createScriptedEngine } from '../../testing/workers/engines.ts';
import { createWorkerMetrics } from '../../worker/metrics.ts';
import { readAnswer } from './events.ts';
import { MODEL_ID, openScene, type Scene } from './scene.ts';

const engine = createScriptedEngine();
const metrics = createWorkerMetrics();
let scene: Scene;
let served: Awaited<ReturnType<typeof serveMetrics>>;
beforeAll(async () => {
  scene = await openScene({ engine, metrics, capacity: 8 });
  served = await serveMetrics({
    registry: metrics.registry,
    host: '127.0.0.1',
    port: 0,
    settings: { host: 'WORKER_METRICS_HOST', port: 'WORKER_METRICS_PORT' },
    reports: { '/jobs': metrics.report },
  });
});
afterAll(async () => {
  await served.close();
  await scene.close();
});

async function sample(line: string): Promise<number> {
  const text = await (await fetch(served.url)).text();
  const [, value] =
    text
      .split('\n')
      .find((other) => other.startsWith(`${line} `))
      ?.split(' ') ?? [];
  return Number(value);
}

describe("a worker's metrics", () => {
  it('count proven jobs and their tokens by model, with their times', async () => {
    const { proof } = await readAnswer(await scene.ask(await scene.lock()));
    const model = `model="${MODEL_ID}"`;
    expect(await sample(`svc_worker_jobs_total{${model},outcome="proved"}`)).toBe(1);
    const tokens = await sample(`svc_worker_tokens_total{${model},kind="completion"}`);
    expect(tokens).toBe(proof?.completion_tokens);
    expect(await sample(`svc_worker_first_text_seconds_count{${model}}`)).toBe(1);
    expect(await sample(`svc_worker_job_seconds_count{${model}}`)).toBe(1);
    expect(await sample('svc_worker_ready')).toBe(1);
    expect(await sample('svc_worker_slots')).toBe(8);
    expect(await sample('svc_worker_jobs_in_flight')).toBe(0);
  });

  it('count failures, and list the last ones without any text', async () => {
    engine.play(async function* () {
      yield* [];
    });
    const job = await scene.lock();
    expect((await scene.ask(job)).status).toBe(502);
    const outcome = `svc_worker_jobs_total{model="${MODEL_ID}",outcome="empty_output"}`;
    expect(await sample(outcome)).toBe(1);
    expect(await sample('svc_worker_errors_total{code="empty_output"}')).toBe(1);
    const report = await fetch(served.url.replace('/metrics', '/jobs'));
    const failure = { job_id: job.id, model: MODEL_ID, code: 'empty_output' };
    expect(await report.json()).toEqual({
      in_flight: 0,
      slots: 8,
      failures: [{ at: expect.any(String), ...failure }],
    });
  });

  it('count a stranger’s requests by code alone, without labels of theirs', async () => {
    const refused = await scene.ask(await scene.lock(), {
      signer: Keypair.generate(),
      chat: { model: 'a-strange-name' },
    });
    expect(refused.status).toBe(403);
    expect(await sample('svc_worker_errors_total{code="signer_not_allowed"}')).toBe(1);
    expect(await (await fetch(served.url)).text()).not.toContain('a-strange-name');
  });
});
