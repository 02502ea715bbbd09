import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { createCatalog } from '../../api/jobs/catalog.ts';
import { insertObservations, selectMedianLatencies } from '../../api/sql/workers.ts';
import { createLogger } from '../../common/logger.ts';
import { createPool, type Database } from '../../common/postgres.ts';
import { systemTime } from '../../common/wait.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { createRandom } from '../../testing/random.ts';

let database: MirrorDatabase;
/** Two API processes on one database. */
let processes: pg.Pool[];

beforeAll(async () => {
  database = await createMirrorDatabase();
  const { databaseUrl } = database;
  processes = ['one', 'two'].map((applicationName) => createPool({ databaseUrl, applicationName }));
});

afterAll(async () => {
  for (const pool of processes) await pool.end();
  await database.close();
});

async function observe(modelId: string, milliseconds: readonly number[]): Promise<void> {
  for (const [at, firstTokenMs] of milliseconds.entries()) {
    const pool = processes[at % 2] as pg.Pool;
    await insertObservations(pool, [{ worker: `worker ${at % 3}`, modelId, firstTokenMs }]);
  }
}

async function median(modelId: string): Promise<(number | undefined)[]> {
  return Promise.all(
    processes.map(async (pool) => (await selectMedianLatencies(pool)).get(modelId)),
  );
}

const age = (modelId: string, by: string) =>
  database.pool.query(
    `update service.worker_observations set observed_at = observed_at - $2::interval
     where model_id = $1`,
    [modelId, by],
  );

const count = async (modelId: string): Promise<number> => {
  const { rows } = await database.pool.query(
    'select from service.worker_observations where model_id = $1',
    [modelId],
  );
  return rows.length;
};

describe('the median time to first token', () => {
  const { seed, below } = createRandom();

  it(`is the same in every process, over all observations (seed ${seed})`, async () => {
    const seen = Array.from({ length: 41 }, () => below(10_000));
    await observe('many', seen);
    const middle = seen.toSorted((a, b) => a - b)[20];
    expect(await median('many')).toEqual([middle, middle]);
  });

  it('is an observed value, the lower of the two in the middle', async () => {
    await observe('even', [10.4, 30, 20, 40]);
    expect(await median('even')).toEqual([20, 20]);
  });

  it('covers the ten minutes before the last observation, however old [models.median-latency]', async () => {
    await observe('idle', [900, 900]);
    await age('idle', '11 minutes');
    await observe('idle', [200, 300, 400]);
    await age('idle', '3 days');
    expect(await median('idle')).toEqual([300, 300]);
  });
});

describe('an observation', () => {
  it('deletes expired ones once there are many', async () => {
    await observe('outdated', [1, 2, 3]);
    await observe('fresh', [1, 2, 3]);
    await age('outdated', '61 minutes');
    await observe('outdated', [4]);
    expect([await count('outdated'), await count('fresh')]).toEqual([1, 3]);
  });

  it('deletes twice as many as are added, so that any backlog shrinks', async () => {
    const [pool] = processes as [pg.Pool];
    const busy = Array.from({ length: 300 }, () => ({
      worker: 'w',
      modelId: 'busy',
      firstTokenMs: 1,
    }));
    for (let second = 0; second < 3; second += 1) await insertObservations(pool, busy);
    await age('busy', '61 minutes');
    await insertObservations(pool, busy);
    expect(await count('busy')).toBe(600);
    await insertObservations(pool, busy);
    expect(await count('busy')).toBe(600);
  });

  it('waits for no other that is deleting at the same time', async () => {
    // given outdated observations that another process is about to delete
    await observe('contended', [1, 2, 3]);
    await age('contended', '61 minutes');
    const [one, two] = processes as [pg.Pool, pg.Pool];
    const deleting = await one.connect();
    await deleting.query('begin');
    const observation = { worker: 'worker', modelId: 'contended', firstTokenMs: 4 };
    await insertObservations(deleting, [observation]);
    // when this one observes something
    await insertObservations(two, [observation]);
    // then both are there, and the outdated ones are gone
    await deleting.query('commit');
    deleting.release();
    expect(await count('contended')).toBe(2);
  });
});

describe('the medians that a process shows', () => {
  /** A process with a clock of its own, which counts its reads; the next one may fail. */
  function createProcess() {
    const state = { nowMs: 0, reads: 0, fault: undefined as Error | undefined };
    const query = async (statement: string) => {
      state.reads += 1;
      const { fault } = state;
      state.fault = undefined;
      if (fault) throw fault;
      return database.pool.query(statement);
    };
    const catalog = createCatalog({
      database: { query } as Database,
      logger: createLogger({ name: 'test', level: 'silent' }),
      time: { ...systemTime, nowMs: () => state.nowMs },
    });
    return { state, shown: async () => (await catalog.medianLatencies()).get('shown') };
  }

  it('are read once for concurrent requests, however long that takes', async () => {
    const { state, shown } = createProcess();
    const slow = shown();
    state.nowMs = 60_000;
    expect(await Promise.all([slow, shown()])).toEqual([undefined, undefined]);
    expect(state.reads).toBe(1);
  });

  it('are read again after five seconds, and not before', async () => {
    const { state, shown } = createProcess();
    expect(await shown()).toBeUndefined();
    await observe('shown', [300]);
    state.nowMs = 5_000;
    expect(await shown()).toBeUndefined();
    state.nowMs = 5_001;
    expect(await shown()).toBe(300);
  });

  it('are read again at once after a failed read', async () => {
    const { state, shown } = createProcess();
    state.fault = new Error('connect ECONNREFUSED');
    await expect(shown()).rejects.toThrow('ECONNREFUSED');
    expect(await shown()).toBe(300);
  });
});
