import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { insertObservations, upsertVerdicts } from '../../api/sql/workers.ts';
import { createWorkerDirectory, type WorkerDirectory } from '../../api/workers/directory.ts';
import type { WorkerHealth } from '../../api/workers/health.ts';
import { createLogger } from '../../common/logger.ts';
import { systemTime } from '../../common/wait.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { until } from '../../testing/until.ts';
import { MODEL } from './routingWorker.ts';

let database: MirrorDatabase;
let directory: WorkerDirectory;
let nowMs: number;
const READ_MS = 5;
const PROBE_MS = 5_000;
/** Endpoints that answer, with what they say; others are silent. */
let answers: Map<string, Partial<WorkerHealth> | 'refused' | Promise<undefined>>;
let probed: string[];

beforeAll(async () => {
  database = await createMirrorDatabase();
  await database.pool.query(`
    insert into config values
      ('config', 'a', null, 'b', 'c', 'd', 'e', 'f', 'g', 6, 1500, 120, 60, 86400, 172800, 3, false,
       false, 1000, 500, 1000, 1000000, 1)`);
  await database.pool.query(
    `insert into models values ($1, 'svc-model', 'lite', '3B', 'us', 1000, 2, 1, 500, 0, null, 1)`,
    [MODEL],
  );
});

afterAll(() => database.close());

beforeEach(() => {
  nowMs = 1_000_000;
  answers = new Map();
  probed = [];
  directory = createWorkerDirectory({
    database: database.pool,
    logger: createLogger({ name: 'test', level: 'silent' }),
    // It reads its workers all the time, while the clock stands where the test has put it.
    time: { nowMs: () => nowMs, after: (_ms, then) => systemTime.after(READ_MS, then) },
    random: () => 0,
    async probe({ address, endpoint }) {
      probed.push(endpoint);
      const health = await answers.get(endpoint);
      if (health === 'refused') return health;
      if (!health) return undefined;
      const usual = { slots: 4, in_flight: 0, engine: 'x', first_token_ms: {} };
      return { worker_address: address, ...usual, ...health };
    },
  });
});

afterEach(async () => {
  await directory.close();
  await database.pool.query('delete from workers');
  await database.pool.query('delete from service.canary_verdicts');
});

/** A worker as the mirror shows it, whose endpoint answers. */
async function addWorker(address: string): Promise<void> {
  const endpoint = `https://${address}.example.com`;
  answers.set(endpoint, {});
  await database.pool.query(
    `insert into workers values ($1, $1, 'key', 'payout', $2, 'active', 1000, 0, null, 0, 0, 0, 1)`,
    [address, endpoint],
  );
  await host(address);
}

const host = (address: string) =>
  database.pool.query('insert into worker_models values ($1, $2)', [address, MODEL]);

const set = (address: string, change: string) =>
  database.pool.query(`update workers set ${change} where address = $1`, [address]);

async function startWith(address: string): Promise<void> {
  await addWorker(address);
  await directory.start();
}

/** What the endpoint answers to the next probe, which is due. */
function probe(address: string, answer: Parameters<(typeof answers)['set']>[1]): void {
  answers.set(`https://${address}.example.com`, answer);
  nowMs += PROBE_MS;
}

const untilActive = (count: number) => until(async () => active().length === count);

const active = () => directory.active(MODEL).map(({ address }) => address);

const reserve = () => directory.reserve({ modelAddress: MODEL, except: new Set(), waitMs: 0 });

describe('response_format', () => {
  const model = { address: MODEL, id: 'svc-model' };
  const found = (keeps_format: boolean | null) =>
    upsertVerdicts(database.pool, [
      {
        ...{ worker: 'a', model: MODEL, has_passed: keeps_format !== false, keeps_format },
        calls_tools: null,
      },
    ]);

  it('is promised by the own trial until a canary has found out', async () => {
    await addWorker('a');
    answers.set('https://a.example.com', { response_format: ['svc-model'] });
    await directory.start();
    expect(directory.keepsFormat(model)).toBe(true);

    await found(false);
    await until(async () => !directory.keepsFormat(model));
    expect(active()).toEqual(['a']);
    expect(directory.active(MODEL)[0]?.failed_canaries).toEqual([MODEL]);

    // Without a schema a canary says nothing of it.
    await found(null);
    await until(async () => directory.active(MODEL)[0]?.failed_canaries.length === 0);
    expect(directory.keepsFormat(model)).toBe(false);

    await found(true);
    await until(async () => directory.keepsFormat(model));
    probe('a', { response_format: [] });
    await until(async () => !directory.keepsFormat(model));
  });
});

describe('tools', () => {
  const model = { address: MODEL, id: 'svc-model' };
  const found = (calls_tools: boolean | null) =>
    upsertVerdicts(database.pool, [
      { ...{ worker: 'a', model: MODEL, has_passed: true, keeps_format: null }, calls_tools },
    ]);
  const reserved = async (except: string[] = []) => {
    const wish = { modelAddress: MODEL, toolsOf: model.id, except: new Set(except), waitMs: 0 };
    return (await directory.reserve(wish))?.worker.address;
  };
  const calledAt = async () =>
    (await database.pool.query('select tools_called_at from service.canary_verdicts')).rows[0]
      ?.tools_called_at;

  it('go to workers whose trial called one, and whose last canary did', async () => {
    for (const address of ['a', 'b']) await addWorker(address);
    answers.set('https://a.example.com', { tools: ['svc-model'] });
    answers.set('https://b.example.com', { tools: ['another'] });
    await directory.start();
    expect([directory.callsTools(model), await reserved()]).toEqual([true, 'a']);
    expect(await reserved(['a'])).toBeUndefined();
    expect(directory.active(MODEL, model.id).map(({ address }) => address)).toEqual(['a']);
    expect(directory.retryAfterSeconds(MODEL, 'no such model')).toBe(60);

    await found(false);
    await until(async () => !directory.callsTools(model));
    expect([await reserved(), await calledAt(), active()]).toEqual([undefined, null, ['a', 'b']]);

    await found(true);
    await until(async () => directory.callsTools(model));
    const lastCalled = await calledAt();
    expect(lastCalled).toBeInstanceOf(Date);
    // Without a tool a canary says nothing of it; one that fails does not change when it last did.
    await found(null);
    await found(false);
    await until(async () => !directory.callsTools(model));
    expect(await calledAt()).toEqual(lastCalled);
    await found(true);
    probe('a', { tools: [] });
    await until(async () => !directory.callsTools(model));
  });
});

describe('the start probe of a model', () => {
  const model = { address: MODEL, id: 'a-model' };

  it('is the median of what its workers say, or of their first answers', async () => {
    for (const address of ['a', 'b', 'c']) await addWorker(address);
    expect(directory.startProbeMs(model)).toBeUndefined();
    const say = (address: string, first_token_ms: Record<string, number>) =>
      answers.set(`https://${address}.example.com`, { first_token_ms });
    say('a', { 'a-model': 300 });
    say('b', { 'a-model': 700, 'another-model': 1 });
    say('c', { 'another-model': 1 });
    await directory.start();
    expect(directory.startProbeMs(model)).toBe(300);

    say('a', { 'a-model': 5 });
    nowMs += PROBE_MS;
    await until(async () => probed.length >= 6);
    expect(directory.startProbeMs(model)).toBe(300);
  });
});

describe('a worker that changes on the ledger', () => {
  it.each([
    ['leaves its model', 'delete from worker_models', true],
    ['unstakes', 'update workers set unstaking_tokens = 1', true],
    ['has too little stake', 'update workers set stake_tokens = 999', true],
    ['is suspended', "update workers set status = 'suspended'", true],
    ['deregisters', "update workers set status = 'deregistered'", true],
    ['moves', "update workers set endpoint = 'https://b.example.com'", false],
    ['has another key', "update workers set proof_key = 'b'", false],
  ])('has changed for earlier reservations when it %s', async (_why, change, isGone) => {
    await startWith('a');
    const reserved = await reserve();
    expect(reserved?.hasChanged()).toBe(false);
    await database.pool.query(change);
    await directory.refresh();
    expect(reserved?.hasChanged()).toBe(true);
    if (!isGone) return;
    // And it gets no more jobs.
    expect(active()).toEqual([]);
    expect(await reserve()).toBeUndefined();
    expect(directory.retryAfterSeconds(MODEL)).toBe(60);
  });

  it('keeps the count of its jobs until they end, even when it returns', async () => {
    // given a worker with a capacity of four and one job
    await startWith('a');
    const running = await reserve();
    // when it leaves, and comes back while the job runs
    await set('a', "status = 'suspended'");
    await untilActive(0);
    await set('a', "status = 'active'");
    await untilActive(1);
    // then three more can be given to it, and the place comes back with the end of the first
    const more = await Promise.all([reserve(), reserve(), reserve(), reserve()]);
    expect(more.filter((reservation) => reservation !== undefined)).toHaveLength(3);
    running?.release();
    expect((await reserve())?.worker.address).toBe('a');
  });
});

describe('a worker’s probes', () => {
  it('take it out at once when its endpoint is closed, until it answers', async () => {
    await startWith('a');
    probe('a', 'refused');
    await untilActive(0);
    probe('a', {});
    await untilActive(1);
  });

  it('make it active from its first answer until 30 s after its last', async () => {
    await addWorker('a');
    answers.clear();
    await directory.start();
    expect(active()).toEqual([]);
    expect(directory.retryAfterSeconds(MODEL)).toBe(60);
    // when it answers from the next probe on, and then no more
    probe('a', {});
    await untilActive(1);
    answers.clear();
    nowMs += 30_000;
    expect(active()).toEqual(['a']);
    nowMs += 1;
    expect(active()).toEqual([]);
  });

  it('report its capacity and its jobs of other processes', async () => {
    await addWorker('a');
    answers.set('https://a.example.com', { slots: 2, in_flight: 1 });
    await directory.start();
    expect(await reserve()).toMatchObject({ worker: { capacity: 2, inFlightElsewhere: 1 } });
    probe('a', { slots: 1, in_flight: 1 });
    await until(async () => directory.answering()[0]?.capacity === 1);
    // The one that it runs now is ours.
    expect(directory.answering()[0]?.inFlightElsewhere).toBe(0);
    expect(await reserve()).toBeUndefined();
  });

  it('restart at a new endpoint: answers of the old one no longer count', async () => {
    await startWith('a');
    await set('a', "endpoint = 'https://elsewhere.example.com'");
    await until(async () => probed.includes('https://elsewhere.example.com'));
    expect(active()).toEqual([]);
    probe('elsewhere', {});
    await untilActive(1);
    expect((await reserve())?.worker.endpoint).toBe('https://elsewhere.example.com');
  });

  it('do not delay those of others when they hang', async () => {
    await startWith('a');
    probe('a', new Promise(() => undefined));
    await until(async () => probed.length === 2);
    await addWorker('b');
    await until(async () => active().includes('b'));
  });
});

describe('a starting process', () => {
  it('uses the latencies that other processes saw in the last ten minutes', async () => {
    await addWorker('a');
    await addWorker('b');
    const observe = (worker: string, firstTokenMs: number) =>
      insertObservations(database.pool, [{ worker, modelId: 'svc-model', firstTokenMs }]);
    for (const ms of [1, 2, 3, 4]) await observe('a', ms);
    await database.pool.query(
      "update service.worker_observations set observed_at = now() - interval '11 minutes'",
    );
    for (const ms of [300, 200, 9_000]) await observe('a', ms);
    await observe('b', 100);
    await directory.start();
    const known = directory
      .answering()
      .map(({ address, firstTokens }) => [address, firstTokens.get(MODEL)?.ms]);
    expect(Object.fromEntries(known)).toEqual({ a: 300, b: 100 });
    expect((await reserve())?.worker.address).toBe('b');
  });
});
