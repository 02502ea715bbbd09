import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Catalog, createCatalog } from '../../api/jobs/catalog.ts';
import { insertObservations } from '../../api/sql/workers.ts';
import { createLogger } from '../../common/logger.ts';
import type { Database } from '../../common/postgres.ts';
import { systemTime } from '../../common/wait.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';

const modelId = 'svc-model';
let database: MirrorDatabase;
let catalog: Catalog;
let now: number;
let reads: number;
/** Of the next read, instead of its result. */
let fault: Error | undefined;

beforeAll(async () => {
  database = await createMirrorDatabase();
});

afterAll(() => database.close());

beforeEach(async () => {
  await database.pool.query('delete from service.worker_observations');
  now = 0;
  reads = 0;
  const query = async (statement: string) => {
    reads += 1;
    if (!fault) return database.pool.query(statement);
    const error = fault;
    fault = undefined;
    throw error;
  };
  catalog = createCatalog({
    database: { query } as Database,
    logger: createLogger({ name: 'test', level: 'silent' }),
    time: { ...systemTime, nowMs: () => now },
  });
});

const observe = (firstTokenMs: number) =>
  insertObservations(database.pool, [{ worker: 'worker', modelId, firstTokenMs }]);
const shown = async () => (await catalog.medianLatencies()).get(modelId);

describe('the median latencies of models', () => {
  it('are read once for all concurrent requests', async () => {
    await observe(300);
    expect(await Promise.all([shown(), shown(), shown()])).toEqual([300, 300, 300]);
    expect(reads).toBe(1);
  });

  it('are read again after five seconds, and not before', async () => {
    expect(await shown()).toBeUndefined();
    await observe(300);
    now = 5_000;
    expect(await shown()).toBeUndefined();
    now = 5_001;
    expect(await shown()).toBe(300);
    expect(reads).toBe(2);
  });

  it('are read once at a time, however long a read takes', async () => {
    const slow = shown();
    now = 60_000;
    await Promise.all([slow, shown()]);
    expect(reads).toBe(1);
  });

  it('are read again at once after a failed read', async () => {
    await observe(300);
    fault = new Error('connect ECONNREFUSED');
    await expect(shown()).rejects.toThrow('ECONNREFUSED');
    expect(await shown()).toBe(300);
  });
});
