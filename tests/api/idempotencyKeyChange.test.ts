import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { RepeatServices } from '../../api/jobs/repeats.ts';
import { createRequestIdentification } from '../../api/jobs/requestIdentity.ts';
import type { Database } from '../../common/postgres.ts';
import { NEIGHBOURING_STEPS, secretsKeySteps } from '../../testing/service/gatedService.ts';
import { openRepeatScene, type RepeatScene, type Sent } from './repeatScene.ts';

const IN_USE = 'idempotency_key_in_use';
const STEPS = secretsKeySteps(randomBytes(32), randomBytes(32));
let scene: RepeatScene;

beforeAll(async () => {
  scene = await openRepeatScene();
});
afterAll(() => scene?.close());
beforeEach(() => scene.clear());

/** An API process at one of the steps. */
const at = (step: number, other: Partial<RepeatServices> = {}) => ({
  at: scene.start(other),
  identify: createRequestIdentification(...(STEPS[step] as (typeof STEPS)[1])),
});

describe.each([
  ['under its Idempotency-Key', { key: 'key-1' }, { key: 'key-1' }],
  ['silently', {}, { retryCount: '1' }],
] as const)('a request that is repeated %s while the key changes', (_how, first, again) => {
  it.each(
    NEIGHBOURING_STEPS.flatMap(
      ([before, after]) =>
        [
          [before, 'settled', after, 'replay'],
          [before, 'processing', after, IN_USE],
          [before, 'failed', after, 'new'],
        ] as const,
    ),
  )('is, at step %i and %s, at step %i: %s', async (before, status, after, expected) => {
    const { jobId } = await scene.run(first, status, at(before));
    const [outcome, about] = await scene.outcomeOf(again, at(after));
    expect(outcome).toBe(expected);
    if (expected !== 'new') expect(about).toBe(jobId);
    else expect(await scene.outcomeOf(again, at(before))).toEqual([IN_USE, about]);
    expect(await scene.rowCount()).toBe(1);
  });

  it('runs in one process at most when many receive it', async () => {
    for (let round = 0; round < 10; round += 1) {
      await scene.clear();
      const processes = Array.from({ length: 8 }, (_, index) => at(1 + (index % 2)));
      const outcomes = await Promise.all(processes.map((one) => scene.outcomeOf(again, one)));
      const news = outcomes.filter(([outcome]) => outcome === 'new');
      expect(news.length).toBeLessThanOrEqual(1);
      expect(await scene.rowCount()).toBe(news.length);
    }
  });

  it('runs once when two processes look it up before either has claimed it', async () => {
    const outcomes: string[] = [];
    const interrupted = {
      async query(...given: Parameters<Database['query']>) {
        const result = await scene.pool.query(...given);
        if (JSON.stringify(given).includes('select_request') && outcomes.length === 0) {
          outcomes.push((await scene.outcomeOf(again, at(1)))[0]);
        }
        return result;
      },
    } as Database;
    outcomes.push((await scene.outcomeOf(again, at(2, { database: interrupted })))[0]);
    expect(outcomes.sort()).toEqual([IN_USE, 'new']);
  });

  it('runs once when another process is just running it again', async () => {
    await scene.run(first, 'failed', at(1));
    let winner: string | undefined;
    const slow = at(2, {
      async findStatus() {
        winner ??= (await scene.claim(again, at(0))).jobId;
        return 'failed';
      },
    });
    expect(await scene.outcomeOf(again, slow)).toEqual([IN_USE, winner]);
    expect(await scene.rowCount()).toBe(1);
  });
});

it('an Idempotency-Key is refused with another body while the key changes', async () => {
  const sent: Sent = { key: 'key-1', body: '{"a":1}' };
  const { jobId } = await scene.run(sent, 'settled', at(1));
  expect(await scene.outcomeOf({ ...sent, body: '{"a":2}' }, at(2))).toEqual([
    'idempotency_key_mismatch',
    jobId,
  ]);
  expect(await scene.rowCount()).toBe(1);
});
