import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import type pg from 'pg';
import type { Idempotency } from '../../api/jobs/idempotency.ts';
import type { LookedUpStatus } from '../../api/ledger/jobLookup.ts';
import type { Database } from '../../common/postgres.ts';
import { KEPT_COPY } from './keptCopy.ts';
import { openRepeatScene, type RepeatScene } from './repeatScene.ts';

// Requests of one wallet with the same body: samples, of which one may be the repeat of another.

let scene: RepeatScene;

beforeAll(async () => {
  scene = await openRepeatScene();
});
afterAll(() => scene?.close());
beforeEach(() => scene.clear());
afterEach(() => void jest.useRealTimers());

/** A sample at a process of its own, whose job has ended so; its response is still on its way. */
async function sample(status: LookedUpStatus) {
  const at = scene.start();
  const { jobId, claim } = await scene.begin({}, { at });
  await claim.store({ ...KEPT_COPY, text: jobId });
  claim.end();
  scene.statuses.set(jobId, status);
  return {
    jobId,
    async end(how: 'delivered' | 'lost') {
      claim[how]();
      await at.close();
    },
  };
}

/** Samples that have ended so, with what became of each. */
async function samples(...ends: (readonly [LookedUpStatus, 'delivered' | 'lost'])[]) {
  const all = await Promise.all(ends.map(([status]) => sample(status)));
  for (const [index, [, how]] of ends.entries()) await all[index]?.end(how);
  return all.map(({ jobId }) => jobId);
}

/** What a counted repeat gets: the job whose answer is given again, 'new', or why it is refused. */
async function repeat(at: Idempotency = scene.start()) {
  const { claim } = await scene.claim({ retryCount: '1' }, { at });
  if (claim.status === 'replay') expect(claim.copy.text).toBe(claim.jobId);
  return { claim, got: claim.status === 'replay' ? claim.jobId : claim.status };
}

const refusal = async (at?: Idempotency) => {
  const error = await repeat(at).catch((thrown) => thrown);
  return [error.code, error.options?.details.job_id];
};
const IN_USE = 'idempotency_key_in_use';

describe('a counted repeat without an Idempotency-Key', () => {
  it('never gets the answer of a twin that was delivered [idempotency.twins]', async () => {
    await samples(['settled', 'delivered'], ['settled', 'delivered'], ['settled', 'delivered']);
    expect((await repeat()).got).toBe('new');
  });

  it.each([
    ['the one answer that was lost', ['settled', 'delivered'], ['settled', 'lost']],
    ['what was charged before a failure', ['failed', 'lost'], ['settled', 'lost']],
  ] as const)('gets of its twins %s [idempotency.twins]', async (_what, other, lost) => {
    const [, jobId] = await samples(other, lost, other);
    expect((await repeat()).got).toBe(jobId);
  });

  it('gets the answer of a twin whose process died before it was delivered', async () => {
    const { jobId } = await sample('settled');
    await scene.setLease(0);
    expect((await repeat()).got).toBe(jobId);
  });

  it('shares no lost answer with another repeat, though both come at once', async () => {
    const jobIds = await samples(...Array(8).fill(['settled', 'lost'] as const));
    const repeats = await Promise.all(jobIds.map(() => repeat()));
    expect(repeats.map(({ got }) => got).sort()).toEqual(jobIds.sort());
  });

  it('is in use while a twin is answered, since that answer may be lost yet', async () => {
    const { end, jobId } = await sample('settled');
    expect(await refusal()).toEqual([IN_USE, jobId]);
    await end('delivered');
    expect((await repeat()).got).toBe('new');
  });

  it('is in use while another repeat gets the same answer, and free afterwards', async () => {
    const [jobId] = await samples(['settled', 'lost']);
    for (const how of ['lost', 'delivered'] as const) {
      const at = scene.start();
      const { claim, got } = await repeat(at);
      expect(got).toBe(jobId);
      expect((await refusal())[0]).toBe(IN_USE);
      claim[how]();
      await at.close();
    }
    expect((await repeat()).got).toBe('new');
  });

  it('runs in place of a twin that failed, while others are answered', async () => {
    await samples(['failed', 'lost']);
    await sample('processing');
    expect((await repeat()).got).toBe('new');
    expect(await scene.rowCount()).toBe(2);
  });

  it('is decided by the twin’s newest state, not by what was read before', async () => {
    const [jobId] = await samples(['settled', 'lost']);
    let taken: string | undefined;
    const slow = scene.start({
      async findStatus() {
        taken ??= (await repeat()).got;
        return 'settled';
      },
    });
    expect((await refusal(slow))[0]).toBe(IN_USE);
    expect(taken).toBe(jobId);
  });

  it('waits for the job of a lost answer that still runs', async () => {
    const [jobId] = await samples(['processing', 'lost']);
    expect(await refusal()).toEqual([IN_USE, jobId]);
    scene.statuses.set(jobId as string, 'settled');
    expect((await repeat()).got).toBe(jobId);
  });
});

describe('a delivery that the database does not take', () => {
  it('is written once it does, so that no repeat gets that answer', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'Date'] });
    let isAway = false;
    const written = Promise.withResolvers<void>();
    const query = async (statement: pg.QueryConfig) => {
      if (statement.name !== 'expire_requests') return scene.pool.query(statement);
      if (isAway) throw new Error('connect ECONNREFUSED');
      const result = await scene.pool.query(statement);
      written.resolve();
      return result;
    };
    const at = scene.start({ database: { query } as unknown as Database });
    const { jobId, claim } = await scene.begin({}, { at });
    scene.statuses.set(jobId, 'settled');
    isAway = true;
    claim.delivered();
    await jest.advanceTimersByTimeAsync(4_000);
    isAway = false;
    await jest.advanceTimersByTimeAsync(1_000);
    await written.promise;
    expect((await repeat()).got).toBe('new');
  });
});
