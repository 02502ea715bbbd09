import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { fetchAllWorkers } from '../../programs/client/accounts.ts';
import type { Job } from '../../programs/client/types.ts';
import {
  type RunningService,
  startRunningService,
  type WorkerBehaviour,
} from '../support/runningService.ts';

jest.setTimeout(180_000);

let service: RunningService;

afterEach(() => service.close());

async function start(...workers: WorkerBehaviour[]): Promise<void> {
  service = await startRunningService({ workers, apiSettings: { SVC_HEDGE_AFTER_MS: '100' } });
}

const complete = () =>
  service.openai().chat.completions.create({
    model: service.model.id,
    messages: [{ role: 'user', content: 'Say hello.' }],
  });

/** How many jobs each worker was paid for. */
async function paid(): Promise<bigint[]> {
  const found = await fetchAllWorkers(service.ledger.connection, { commitment: 'confirmed' });
  return service.workers.map(({ address }) => {
    const worker = found.find((one) => one.address.toBase58() === address);
    return worker?.data.jobsSettled ?? 0n;
  });
}

describe('with hedging', () => {
  it('a silent worker costs a request no time, and is not paid', async () => {
    await start('never_answers', 'honest');
    // when requests come until one has met the silent worker first
    let jobs: Job[] = [];
    while (!jobs.some(({ attempt }) => attempt === 2)) {
      await complete();
      jobs = (await service.jobs()).map(({ data }) => data);
    }
    // then none took the half minute after which a silent worker is dropped without hedging, too
    for (const { provenAfterSeconds } of jobs) expect(provenAfterSeconds).toBeLessThan(30);
    // then the honest one has answered and was paid for each, once
    expect(await paid()).toEqual([0n, BigInt(jobs.length)]);
    const { availableCredits } = await service.account();
    expect(service.boughtCredits - availableCredits).toBe(8n * BigInt(jobs.length));
    await service.expectConserved();
  });

  it('of two slow workers the first with text is heard and paid, the other is not', async () => {
    await start('slow_first_token', 'slow_first_token');
    const answer = await complete();
    expect(answer.choices[0]?.message.content).not.toBe('');
    expect(service.workers.map(({ jobsAsked }) => jobsAsked())).toEqual([1, 1]);
    expect((await paid()).toSorted()).toEqual([0n, 1n]);
    const { availableCredits } = await service.account();
    expect(service.boughtCredits - availableCredits).toBe(8n);
    await service.expectConserved();
  });
});
