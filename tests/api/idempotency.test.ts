import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { createRequestIdentification } from '../../api/routes/completions.ts';
import { openRequestSecret } from '../../api/sql/schema.ts';
import { createSealing } from '../../common/sealing.ts';
import { deleteOldRequests } from '../../indexer/background/expiredRows.ts';
import { resealSecrets } from '../../indexer/webhooks/resealSecrets.ts';
import { KEPT_COPY } from './keptCopy.ts';
import { NOW_MS, newJobId, openRepeatScene, type RepeatScene, requestOf } from './repeatScene.ts';

const IN_USE = 'idempotency_key_in_use';
const REUSED = 'idempotency_key_reused';
let scene: RepeatScene;
let pool: pg.Pool;

beforeAll(async () => {
  scene = await openRepeatScene();
  pool = scene.pool;
});
afterAll(() => scene?.close());
beforeEach(() => scene.clear());

describe.each([
  ['with an Idempotency-Key', { key: 'key-1' }, { key: 'key-1' }],
  ['as the silent retry of an official client', {}, { retryCount: '1' }],
] as const)('a repeated request %s', (_title, first, again) => {
  const outcome = async (sent = {}) => (await scene.outcomeOf({ ...again, ...sent }))[0];

  it.each([
    ['pending', 'with', IN_USE],
    ['processing', 'with', IN_USE],
    ['settling', 'with', IN_USE],
    ['settled', 'with', 'replay'],
    ['disputed', 'with', 'replay'],
    // The mirror lacks the end of such a job.
    ['closed', 'with', 'replay'],
    ['failed', 'with', 'new'],
    ['refunded', 'with', 'new'],
    ['closed', 'without', IN_USE],
    ['settled', 'without', REUSED],
  ] as const)(
    'gets, while its job is %s %s a stored answer: %s',
    async (status, stored, expected) => {
      const { jobId } = await scene.run(first, status, { stores: stored === 'with' });
      const repeat = { jobId: newJobId() };
      const about = expected === 'new' ? repeat.jobId : jobId;
      expect(await scene.outcomeOf(again, repeat)).toEqual([expected, about]);
    },
  );

  it.each([
    ['failed', 'new'],
    ['refunded', 'new'],
    ['closed', IN_USE],
  ] as const)(
    'of a process that is gone, whose job is then %s, gets: %s',
    async (end, expected) => {
      await scene.run(first, 'processing', { stores: false });
      await scene.setLease(0);
      const at = scene.start({ failOrphan: async () => end });
      expect((await scene.outcomeOf(again, { at }))[0]).toBe(expected);
    },
  );

  it.each([
    ['is looked up', 'settled', 'settled', 'replay'],
    ['is looked up', 'closed', 'closed', 'replay'],
    ['is looked up', 'processing', 'settled', 'replay'],
    ['is taken over', 'processing', 'settled', 'replay'],
    ['is taken over', 'processing', 'failed', 'new'],
  ] as const)(
    'whose answer is stored as its job %s, found %s and ended %s, gets: %s',
    async (moment, found, end, expected) => {
      const { claim } = await scene.begin(first);
      await scene.setLease(0);
      const store = async (at: string) => at === moment && claim.store(KEPT_COPY);
      const at = scene.start({
        async findStatus() {
          await store('is looked up');
          return found;
        },
        async failOrphan() {
          await store('is taken over');
          return end;
        },
      });
      expect((await scene.claim(again, { at })).claim.status).toBe(expected);
    },
  );

  it('is taken over by one of many when its process is gone', async () => {
    const { jobId } = await scene.run(first, 'processing', { stores: false });
    await scene.setLease(0);
    const taken = await Promise.all(Array.from({ length: 8 }, () => outcome()));
    expect(taken.filter((one) => one === 'new')).toHaveLength(1);
    expect(scene.orphans).toEqual([jobId]);
  });

  it('is in use while its lock may still land, and runs again afterwards', async () => {
    const { jobId } = await scene.run(first, undefined, { jobId: newJobId(120_000) });
    expect(await scene.outcomeOf(again)).toEqual([IN_USE, jobId]);
    await pool.query('update service.idempotent_requests set job_id = $1', [newJobId(120_001)]);
    expect(await outcome()).toBe('new');
  });

  it('is in use when its lock may have landed during the lookup of its job', async () => {
    await scene.run(first, undefined, { jobId: newJobId(119_000) });
    let askedMs = 0;
    const at = scene.start({
      async findStatus() {
        askedMs = 2_000;
        return undefined;
      },
      nowMs: () => NOW_MS + askedMs,
    });
    expect((await scene.outcomeOf(again, { at }))[0]).toBe(IN_USE);
  });

  it('gets the id of the running job when another repeat came first', async () => {
    const { jobId } = await scene.run(first, undefined);
    let winner: string | undefined;
    const at = scene.start({
      async findStatus() {
        scene.statuses.set(jobId, 'failed');
        winner = (await scene.claim(again)).jobId;
        return 'failed';
      },
    });
    expect(await scene.outcomeOf(again, { at })).toEqual([IN_USE, winner]);
  });

  it('keeps its claim when the previous request releases its own', async () => {
    const { claim } = await scene.run(first, 'failed');
    const second = await scene.run(again, 'settled');
    await claim.release();
    expect(await scene.outcomeOf(again)).toEqual(['replay', second.jobId]);
  });

  it('is refused when its answer is ten minutes old [idempotency.replay]', async () => {
    const jobId = newJobId();
    scene.statuses.set(jobId, 'settled');
    await scene.atOneMoment(async (database, at) => {
      const claim = await at.claim(requestOf(first), jobId);
      if (claim.status === 'new') await claim.store(KEPT_COPY);
      const { rows } = await database.query(
        'select extract(epoch from expires_at - now())::float8 as left from service.answer_copies',
      );
      expect(rows).toEqual([{ left: 600 }]);
    });
    await pool.query('update service.answer_copies set expires_at = now()');
    await pool.query('update service.idempotent_requests set lost_at = now()');
    expect(await scene.outcomeOf(again)).toEqual([REUSED, jobId]);
    await deleteOldRequests(pool);
    expect((await pool.query('select from service.answer_copies')).rowCount).toBe(0);
  });

  it.each([
    // No key opens the answer any more.
    ['of a regenerated API key is refused', { apiKey: 'svc_live_y' }, REUSED],
    ['of another wallet is new', { wallet: 'another wallet' }, 'new'],
  ])('%s', async (_title, other, expected) => {
    await scene.run(first, 'settled');
    expect(await outcome(other)).toBe(expected);
  });

  it('runs once when it arrives many times at once', async () => {
    const results = await Promise.all(Array.from({ length: 20 }, () => outcome()));
    expect(results.filter((result) => result === 'new')).toHaveLength(1);
    const { jobId } = await scene.run({ key: 'another' }, 'failed');
    await pool.query('update service.idempotent_requests set job_id = $1, lost_at = now()', [
      jobId,
    ]);
    const retries = await Promise.all(Array.from({ length: 20 }, () => outcome()));
    expect(retries.filter((result) => result === 'new')).toHaveLength(1);
  });

  it('is new after its record expired, and leaves no row behind', async () => {
    await scene.run(first, 'settled');
    await pool.query('update service.idempotent_requests set expires_at = now()');
    expect(await outcome()).toBe('new');
    await pool.query('update service.idempotent_requests set expires_at = now()');
    await deleteOldRequests(pool);
    expect(await scene.rowCount()).toBe(0);
  });
});

describe('an Idempotency-Key', () => {
  it('is refused with another body [idempotency.mismatch]', async () => {
    const { jobId } = await scene.run({ key: 'key-1', body: '{"a":1}' }, 'settled');
    expect(await scene.outcomeOf({ key: 'key-1', body: '{"a":2}' })).toEqual([
      'idempotency_key_mismatch',
      jobId,
    ]);
  });

  it('is kept for 24 hours [idempotency.key-form]', async () => {
    await scene.atOneMoment(async (database, at) => {
      await at.claim(requestOf({ key: 'key-1' }), newJobId());
      const { rows } = await database.query(
        'select extract(epoch from expires_at - now())::float8 as left from service.idempotent_requests',
      );
      expect(rows).toEqual([{ left: 24 * 3_600 }]);
    });
  });

  it('is refused when it is not 1 to 255 visible characters [idempotency.key-form]', () => {
    for (const key of ['', 'k'.repeat(256), 'two words', 'tab\t', 'é']) {
      expect(() => requestOf({ key })).toThrow(
        expect.objectContaining({ code: 'invalid_request', options: { param: 'Idempotency-Key' } }),
      );
    }
    for (const key of ['k', 'k'.repeat(255), '!~"']) requestOf({ key });
  });
});

describe('a request without an Idempotency-Key', () => {
  it.each([
    [{ body: '{"a":1}' }],
    [{ body: '{"a":1}', retryCount: '0' }],
    [{ body: '{"a":2}', retryCount: '1' }],
  ])('is new with another body, or not marked as a retry: %j', async (sent) => {
    await scene.run({ body: '{"a":1}' }, 'settled');
    expect((await scene.outcomeOf(sent))[0]).toBe('new');
  });
});

it.each([
  [{ key: 'a' }, true, 86_400],
  [{ retryCount: '1' }, true, 600],
  [{ retryCount: '0' }, false, 600],
  [{}, false, 600],
])('a request with %j may be a repeat: %s, for %i s', (sent, mayRepeat, lifetimeSeconds) => {
  expect(requestOf(sent)).toMatchObject({ mayRepeat, lifetimeSeconds });
});

describe('the key that seals an answer for repeats', () => {
  it('differs between bodies, API keys and Idempotency-Keys', () => {
    const keys = [
      {},
      { body: '{"model":"two"}' },
      { apiKey: 'svc_live_y' },
      { key: 'a' },
      { key: 'b' },
      { key: 'a', apiKey: 'svc_live_y' },
    ].map((sent) => Buffer.from(requestOf(sent).copyKey()).toString('hex'));
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('the secret that names requests', () => {
  const [before, after] = [randomBytes(32), randomBytes(32)];
  const old = createSealing(before, after);
  const both = createSealing(after, before);

  it.each([
    ['under its Idempotency-Key', { key: 'key-1' }, { key: 'key-1' }],
    ['silently', {}, { retryCount: '1' }],
  ])('outlives its key: a request repeated %s is recognized', async (_how, first, again) => {
    await pool.query('truncate service.request_secret');
    const [secret, twin] = await Promise.all(
      [old, both].map((one) => openRequestSecret(pool, one)),
    );
    expect(twin).toEqual(secret);
    const identify = createRequestIdentification(secret as Buffer);
    const { jobId } = await scene.run(first, 'settled', { identify });
    expect(await resealSecrets(pool, both)).toMatchObject({ unreadableIds: [] });
    const resealed = await openRequestSecret(pool, createSealing(after));
    const later = { identify: createRequestIdentification(resealed) };
    expect(await scene.outcomeOf(again, later)).toEqual(['replay', jobId]);
    expect(await scene.rowCount()).toBe(1);
  });

  it('is not made again by an API with another key, which names its setting', async () => {
    await pool.query('truncate service.request_secret');
    await openRequestSecret(pool, createSealing(before));
    const other = createSealing(after);
    await expect(openRequestSecret(pool, other)).rejects.toThrow(
      /^SVC_SECRETS_KEY, .* open nothing/,
    );
    expect(await resealSecrets(pool, other)).toMatchObject({
      unreadableIds: ['the names of requests'],
    });
  });
});

describe('the stored rows of requests', () => {
  it('contain neither key, nor body, nor answer in the clear [idempotency.kept-sealed]', async () => {
    await scene.run({ key: 'a-secret-key', body: '{"prompt":"a-secret-prompt"}' }, 'settled');
    const { rows } = await pool.query(
      'select * from service.idempotent_requests join service.answer_copies using (job_id)',
    );
    const bytes = Buffer.concat(
      Object.values(rows[0]).map((value) =>
        Buffer.isBuffer(value) ? value : Buffer.from(String(value)),
      ),
    );
    for (const secret of ['a-secret-key', 'a-secret-prompt', KEPT_COPY.text]) {
      expect(bytes.includes(secret)).toBe(false);
    }
  });

  it('expire in statements of 1,000 rows at most, however many there are', async () => {
    await pool.query(
      `insert into service.idempotent_requests
         (wallet, request_key, body_hmac, job_id, expires_at)
       select 'a wallet', place::text::bytea, '', 'job', now() + make_interval(secs => place)
       from generate_series(-2299, 1100) place`,
    );
    const counts: (number | null)[] = [];
    const query = async (text: string, values: unknown[]) => {
      const result = await pool.query(text, values);
      counts.push(result.rowCount);
      return result;
    };
    await deleteOldRequests({ query } as Pick<pg.Pool, 'query'>);
    expect(counts).toEqual([1_000, 1_000, 300, 0]);
    expect(await scene.rowCount()).toBe(1_100);
  });
});
