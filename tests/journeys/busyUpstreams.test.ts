import { afterEach, describe, expect, it } from '@jest/globals';
import { FORMS, requestCompletion } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import { startUpstream, type UpstreamServer } from '../worker/upstreamServer.ts';

let service: RunningService | undefined;
let upstreams: UpstreamServer[] = [];

afterEach(async () => {
  await service?.close();
  for (const upstream of upstreams) upstream.close();
  [service, upstreams] = [undefined, []];
});

/** One worker for each upstream, whose upstream answers 429 with this Retry-After. */
async function startBusy(...retryAfter: (string | undefined)[]) {
  upstreams = await Promise.all(retryAfter.map(() => startUpstream()));
  for (const [at, upstream] of upstreams.entries()) {
    const seconds = retryAfter[at];
    upstream.answerWith((reply) => {
      reply.head(429, seconds === undefined ? {} : { 'retry-after': seconds });
      reply.end();
    });
  }
  const workers = upstreams.map(({ url }) => createUpstreamEngine({ url }));
  service = await startRunningService({ workers });
  return service;
}

const asked = () => upstreams.map(({ requests }) => requests.length);

describe.each(FORMS)('while every upstream answers 429, a %s request', (form) => {
  it('gets 503 with the least Retry-After, and the next one locks nothing', async () => {
    const busy = await startBusy('45', '30', '59');
    const first = await requestCompletion(busy, { form });
    expect(first.status).toBe(503);
    expect(first.headers['retry-after']).toBe('30');
    expect(first.error).toMatchObject({
      code: 'no_workers_available',
      details: { retry_after: 30, job_id: first.headers['x-svc-job-id'] },
    });
    expect(asked()).toEqual([1, 1, 1]);

    const next = await requestCompletion(busy, { form });
    expect(next.status).toBe(503);
    expect(next.error).toMatchObject({ code: 'no_workers_available' });
    expect(next.headers['x-svc-job-id']).toBeUndefined();
    const seconds = Number(next.headers['retry-after']);
    expect(seconds).toBeGreaterThan(15);
    expect(seconds).toBeLessThanOrEqual(30);
    expect(next.error?.details).toMatchObject({ retry_after: seconds });
    expect(asked()).toEqual([1, 1, 1]);

    const jobs = await busy.jobs();
    expect(jobs.map(({ data }) => data.status)).toEqual(['failed']);
    expect(await busy.account()).toMatchObject({
      availableCredits: busy.boughtCredits,
      lockedCredits: 0n,
    });
  });

  it.each([
    ['3600', 60],
    ['0', 1],
  ])('names 1 to 60 s where the upstream names %s', async (named, told) => {
    const { headers, error } = await requestCompletion(await startBusy(named), { form });
    expect(headers['retry-after']).toBe(String(told));
    expect(error?.details).toMatchObject({ retry_after: told });
  });
});
