import { randomBytes } from 'node:crypto';
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
import { Keypair } from '@solana/web3.js';
import type pg from 'pg';
import type { ResponseReport } from '../../api/jobs/claim.ts';
import { createIdempotency, type Idempotency } from '../../api/jobs/idempotency.ts';
import { createRequestIdentification } from '../../api/jobs/requestIdentity.ts';
import type { LookedUpStatus } from '../../api/ledger/jobLookup.ts';
import { createLogger } from '../../common/logger.ts';
import { type Database, inTransaction } from '../../common/postgres.ts';
import { deleteOldRequests } from '../../indexer/background/expiredRows.ts';
import { createJobId, formatJobId } from '../../programs/client/jobId.ts';
import { openPooledDatabase, type PooledDatabase } from '../../testing/database/pooledDatabase.ts';
import { until } from '../../testing/until.ts';
import { KEPT_COPY } from './keptCopy.ts';

const WALLET = Keypair.generate().publicKey.toBase58();
const OTHER_WALLET = Keypair.generate().publicKey.toBase58();
const NOW_MS = 1_800_000_000_000;

const identify = createRequestIdentification(randomBytes(32));
let database: PooledDatabase;
let pool: pg.Pool;
let idempotency: Idempotency;
/** Where each job stands; what is not in it exists nowhere. */
let statuses: Map<string, LookedUpStatus>;
/** Jobs that were ended because no process ran them, and how that came out. */
let orphans: string[];
let orphansEnd: LookedUpStatus;

beforeAll(async () => {
  database = await openPooledDatabase();
  pool = database.pool;
  await pool.query(
    `insert into service.api_keys (key_sha256, wallet, status)
     select 'key of ' || wallet, wallet, 'active' from unnest($1::text[]) wallet`,
    [[WALLET, OTHER_WALLET]],
  );
});

afterAll(() => database?.close());

afterEach(async () => {
  await idempotency.close();
  jest.useRealTimers();
});

beforeEach(async () => {
  statuses = new Map();
  orphans = [];
  orphansEnd = 'failed';
  await pool.query('truncate service.idempotent_requests, service.answer_copies');
  idempotency = createIdempotency(parts());
});

const parts = (): Parameters<typeof createIdempotency>[0] => ({
  database: pool,
  findStatus: async ({ jobId }) => statuses.get(jobId),
  failOrphan: async ({ jobId }) => {
    orphans.push(jobId);
    return orphansEnd;
  },
  nowMs: () => NOW_MS,
  logger: createLogger({ name: 'test', level: 'silent' }),
});

/** As if the process had not renewed it. */
const setLease = (seconds: number, database: Database = pool) =>
  database.query(
    `update service.idempotent_requests
     set lease_expires_at = now() + make_interval(secs => $1)`,
    [seconds],
  );

/** For the database, a transaction is one moment, however long the test takes. */
function atOneMoment(
  work: (database: Database, at: Idempotency) => Promise<unknown>,
): Promise<unknown> {
  return inTransaction(pool, async (client) => {
    const at = createIdempotency({ ...parts(), database: client });
    await work(client, at);
    await at.close();
  });
}

interface Sent {
  body?: string;
  key?: string;
  apiKey?: string;
  retryCount?: string;
  wallet?: string;
}

const requestOf = ({ body = '{}', key, apiKey = 'svc_live_x', retryCount, wallet }: Sent) =>
  identify({
    wallet: wallet ?? WALLET,
    apiKey,
    rawBody: Buffer.from(body),
    idempotencyKey: key,
    retryCount,
  });

/** An id of that age by the ledger's time. */
function jobId(ageMs = 0): string {
  const creditAccount = Keypair.generate().publicKey;
  return formatJobId(createJobId({ nowMs: NOW_MS - ageMs, creditAccount }).bytes);
}

async function claim(sent: Sent, id = jobId()) {
  const request = requestOf(sent);
  return { id, claim: await idempotency.claim(request, id) };
}

/** Claims what is no repeat. */
async function begin(sent: Sent) {
  const { id, claim: claimed } = await claim(sent);
  if (claimed.status !== 'new') throw new Error('the request was taken for a repeat');
  return { id, claimed };
}

/** Its client has left before the whole answer, which only matters without an Idempotency-Key. */
async function lose(id: string, claimed: ResponseReport): Promise<void> {
  claimed.lost();
  const open = `select from service.idempotent_requests
    where job_id = $1 and lost_at is null and expires_at < now() + interval '1 hour'`;
  await until(async () => (await pool.query(open, [id])).rowCount === 0);
}

/** Claims and lets the job end so. */
async function run(sent: Sent, status: LookedUpStatus, options: { stores?: boolean } = {}) {
  const { id, claimed } = await begin(sent);
  if (options.stores ?? true) await claimed.store(KEPT_COPY);
  // A renewal would undo what a test makes of its lease.
  claimed.end();
  await lose(id, claimed);
  statuses.set(id, status);
  return id;
}

const refusalOf = (sent: Sent) =>
  claim(sent).then(
    ({ claim: { status } }) => status,
    (error: { code: string; options: { details: { job_id: string } } }) => [
      error.code,
      error.options.details.job_id,
    ],
  );

describe.each([
  ['with an Idempotency-Key', { key: 'key-1' }, { key: 'key-1' }],
  ['as the silent retry of an official client', {}, { retryCount: '1' }],
] as const)('a repeated request %s', (_title, first, again) => {
  it.each([
    ['pending', 'in_use'],
    ['processing', 'in_use'],
    ['settling', 'in_use'],
    ['settled', 'replay'],
    ['disputed', 'replay'],
    ['failed', 'new'],
    ['refunded', 'new'],
  ] as const)('gets, while its job is %s: %s', async (status, expected) => {
    const id = await run(first, status);
    if (expected === 'in_use') {
      expect(await refusalOf(again)).toEqual(['idempotency_key_in_use', id]);
      return;
    }
    const { claim: repeated } = await claim(again);
    expect(repeated).toMatchObject(
      expected === 'replay' ? { status: 'replay', jobId: id, copy: KEPT_COPY } : { status: 'new' },
    );
  });

  it('gets the stored answer while the mirror lacks the end of its closed job', async () => {
    const id = await run(first, 'closed');
    expect((await claim(again)).claim).toMatchObject({
      status: 'replay',
      jobId: id,
      copy: KEPT_COPY,
    });
  });

  it('is in use without a stored answer until the mirror has its job’s end', async () => {
    const id = await run(first, 'closed', { stores: false });
    expect(await refusalOf(again)).toEqual(['idempotency_key_in_use', id]);
    statuses.set(id, 'refunded');
    expect(await refusalOf(again)).toBe('new');
  });

  it.each([
    [30, 2],
    [21, 2],
    [19, 19],
    [0.5, 1],
    // A row of an earlier release.
    [125, 60],
  ])('gets, with %d s of its lease left, a Retry-After of %i s', async (seconds, expected) => {
    await run(first, 'processing', { stores: false });
    await atOneMoment(async (database, { claim: claimNow }) => {
      await setLease(seconds, database);
      await expect(claimNow(requestOf(again), jobId())).rejects.toMatchObject({
        code: 'idempotency_key_in_use',
        options: { retryAfterSeconds: expected },
      });
    });
    expect(orphans).toEqual([]);
  });

  it.each(['failed', 'refunded'] as const)(
    'ends the job of a process that is gone as %s, and runs again',
    async (end) => {
      orphansEnd = end;
      const id = await run(first, 'processing', { stores: false });
      await setLease(0);
      expect(await refusalOf(again)).toBe('new');
      expect(orphans).toEqual([id]);
    },
  );

  it('gets the stored answer of a settled job whose process is gone', async () => {
    orphansEnd = 'settled';
    const id = await run(first, 'settling');
    await setLease(0);
    expect((await claim(again)).claim).toMatchObject({ status: 'replay', jobId: id });
  });

  it.each([
    ['settled', 'settled'],
    ['settled, and its job closed,', 'closed'],
    ['settled by a process whose lease is over', 'processing'],
  ] as const)(
    'gets the answer that was stored and %s after its row was read',
    async (_how, found) => {
      const { id, claimed } = await begin(first);
      claimed.end();
      await setLease(0);
      orphansEnd = 'settled';
      const repeat = createIdempotency({
        ...parts(),
        async findStatus() {
          await claimed.store(KEPT_COPY);
          return found;
        },
      });
      expect(await repeat.claim(requestOf(again), jobId())).toMatchObject({
        ...{ status: 'replay', jobId: id, copy: KEPT_COPY },
      });
      await repeat.close();
    },
  );

  it('waits for the mirror of a closed job whose process is gone', async () => {
    orphansEnd = 'closed';
    const id = await run(first, 'processing', { stores: false });
    await setLease(0);
    expect(await refusalOf(again)).toEqual(['idempotency_key_in_use', id]);
  });

  it('is taken over by one of many when its process is gone', async () => {
    const id = await run(first, 'processing', { stores: false });
    await setLease(0);
    const taken = await Promise.all(Array.from({ length: 8 }, () => refusalOf(again)));
    expect(taken.filter((one) => one === 'new')).toHaveLength(1);
    expect(orphans).toEqual([id]);
  });

  it.each([
    ['settled', 'replay'],
    ['failed', 'new'],
  ] as const)(
    'takes over a live process’s lease, whose job is %s, and gets: %s',
    async (end, expected) => {
      const { id, claimed: hanging } = await begin(first);
      statuses.set(id, 'processing');
      await setLease(0);
      const taking = createIdempotency({
        ...parts(),
        async failOrphan() {
          await hanging.store(KEPT_COPY);
          return end;
        },
      });
      expect((await taking.claim(requestOf(again), jobId())).status).toBe(expected);
      await taking.close();
    },
  );

  it('is in use while its lock may still land, and runs again afterwards', async () => {
    const young = jobId(120_000);
    const { claim: claimed } = await claim(first, young);
    await lose(young, claimed);
    expect(await refusalOf(again)).toEqual(['idempotency_key_in_use', young]);
    await pool.query('update service.idempotent_requests set job_id = $1', [jobId(120_001)]);
    expect(await refusalOf(again)).toBe('new');
  });

  it('is in use when its lock may have landed during the lookup of its job', async () => {
    const young = jobId(119_000);
    const { claim: claimed } = await claim(first, young);
    await lose(young, claimed);
    let askedMs = 0;
    const slow = createIdempotency({
      ...parts(),
      async findStatus() {
        askedMs = 2_000;
        return undefined;
      },
      nowMs: () => NOW_MS + askedMs,
    });
    await expect(slow.claim(requestOf(again), jobId())).rejects.toMatchObject({
      code: 'idempotency_key_in_use',
    });
  });

  it('runs again after its claim was released', async () => {
    await (await begin(first)).claimed.release();
    expect(await refusalOf(again)).toBe('new');
  });

  it('gets the id of the running job when another repeat came first', async () => {
    const { id, claim: claimed } = await claim(first);
    await lose(id, claimed);
    let winner = '';
    const slow = createIdempotency({
      ...parts(),
      async findStatus() {
        statuses.set(id, 'failed');
        winner = (await claim(again)).id;
        return 'failed';
      },
    });
    const refusal = await slow.claim(requestOf(again), jobId()).catch((error) => error);
    expect(refusal).toMatchObject({
      code: 'idempotency_key_in_use',
      options: { details: { job_id: winner } },
    });
  });

  it('keeps its claim when the previous request releases its own', async () => {
    const { id, claimed } = await begin(first);
    await lose(id, claimed);
    statuses.set(id, 'failed');
    const second = await run(again, 'settled');
    await claimed.release();
    expect((await claim(again)).claim).toMatchObject({ status: 'replay', jobId: second });
  });

  it('is refused when its answer is ten minutes old [idempotency.replay]', async () => {
    const id = jobId();
    statuses.set(id, 'settled');
    await atOneMoment(async (database, { claim: claimNow }) => {
      const claimed = await claimNow(requestOf(first), id);
      if (claimed.status === 'new') await claimed.store(KEPT_COPY);
      const { rows } = await database.query(
        'select extract(epoch from expires_at - now())::float8 as left from service.answer_copies',
      );
      expect(rows).toEqual([{ left: 600 }]);
    });
    await pool.query('update service.answer_copies set expires_at = now()');
    await pool.query('update service.idempotent_requests set lost_at = now()');
    expect(await refusalOf(again)).toEqual(['idempotency_key_reused', id]);
    await deleteOldRequests(pool);
    expect((await pool.query('select from service.answer_copies')).rowCount).toBe(0);
  });

  it('gets the answer that a release without answer_copies stored', async () => {
    const id = await run(first, 'settled');
    await pool.query(
      `update service.idempotent_requests request
       set answer = copy.answer, answer_expires_at = copy.expires_at
       from service.answer_copies copy where copy.job_id = request.job_id`,
    );
    await pool.query('delete from service.answer_copies');
    const { claim: repeated } = await claim(again);
    expect(repeated).toMatchObject({ status: 'replay', jobId: id });
    await lose(id, repeated);
    await pool.query('update service.idempotent_requests set answer_expires_at = now()');
    expect(await refusalOf(again)).toEqual(['idempotency_key_reused', id]);
  });

  it('is refused after its API key was regenerated, as no key opens the answer', async () => {
    const id = await run(first, 'settled');
    expect(await refusalOf({ ...again, apiKey: 'svc_live_y' })).toEqual([
      'idempotency_key_reused',
      id,
    ]);
  });

  it('is refused when its answer could not be stored', async () => {
    const id = await run(first, 'settled', { stores: false });
    expect(await refusalOf(again)).toEqual(['idempotency_key_reused', id]);
  });

  it('is a new request for another wallet', async () => {
    await run(first, 'settled');
    expect(await refusalOf({ ...again, wallet: OTHER_WALLET })).toBe('new');
  });

  it('runs once when it arrives many times at once', async () => {
    const results = await Promise.all(Array.from({ length: 20 }, () => refusalOf(again)));
    expect(results.filter((result) => result === 'new')).toHaveLength(1);
    const id = await run({ key: 'another' }, 'failed');
    await pool.query('update service.idempotent_requests set job_id = $1, lost_at = now()', [id]);
    const retries = await Promise.all(Array.from({ length: 20 }, () => refusalOf(again)));
    expect(retries.filter((result) => result === 'new')).toHaveLength(1);
  });

  it('is new after its record expired, and leaves no row behind', async () => {
    await run(first, 'settled');
    await pool.query('update service.idempotent_requests set expires_at = now()');
    expect(await refusalOf(again)).toBe('new');
    await pool.query('update service.idempotent_requests set expires_at = now()');
    await deleteOldRequests(pool);
    const { rowCount } = await pool.query('select 1 from service.idempotent_requests');
    expect(rowCount).toBe(0);
  });

  it('expires in statements of 1,000 rows at most, however many there are', async () => {
    await pool.query(
      `insert into service.idempotent_requests
         (wallet, request_key, body_hmac, job_id, expires_at, answer, answer_expires_at)
       select $1, place::text::bytea, '', 'job', now() + make_interval(secs => place), 'a', now()
       from generate_series(-2299, 1100) place`,
      [WALLET],
    );
    const counts: (number | null)[] = [];
    const query = async (text: string, values: unknown[]) => {
      const result = await pool.query(text, values);
      counts.push(result.rowCount);
      return result;
    };
    await deleteOldRequests({ query } as Pick<pg.Pool, 'query'>);
    expect(counts).toEqual([1_000, 1_000, 300, 0, 1_000, 100]);
    const { rows } = await pool.query(
      `select count(*)::integer as left, count(answer)::integer as answers
       from service.idempotent_requests`,
    );
    expect(rows).toEqual([{ left: 1_100, answers: 0 }]);
  });
});

describe('an Idempotency-Key', () => {
  it('is refused with another body [idempotency.mismatch]', async () => {
    const id = await run({ key: 'key-1', body: '{"a":1}' }, 'settled');
    expect(await refusalOf({ key: 'key-1', body: '{"a":2}' })).toEqual([
      'idempotency_key_mismatch',
      id,
    ]);
  });

  it('is kept for 24 hours [idempotency.key-form]', async () => {
    await atOneMoment(async (database, { claim: claimNow }) => {
      await claimNow(requestOf({ key: 'key-1' }), jobId());
      const { rows } = await database.query(
        'select extract(epoch from expires_at - now())::float8 as left from service.idempotent_requests',
      );
      expect(rows).toEqual([{ left: 24 * 3_600 }]);
    });
  });

  it('is refused when it is not 1 to 255 visible characters [idempotency.key-form]', () => {
    for (const key of ['', 'k'.repeat(256), 'two words', 'tab\t', 'é']) {
      expect(() => requestOf({ key })).toThrow(
        expect.objectContaining({
          code: 'invalid_request',
          options: { param: 'Idempotency-Key' },
        }),
      );
    }
    for (const key of ['k', 'k'.repeat(255), '!~"']) requestOf({ key });
  });
});

describe('a request without an Idempotency-Key', () => {
  it('runs again when the client does not mark it as a retry', async () => {
    await run({}, 'settled');
    expect(await refusalOf({})).toBe('new');
    expect(await refusalOf({ retryCount: '0' })).toBe('new');
  });

  it('is not a repeat with another body', async () => {
    await run({ body: '{"a":1}' }, 'settled');
    expect(await refusalOf({ body: '{"a":2}', retryCount: '1' })).toBe('new');
  });
});

describe('the stored row of a request', () => {
  it('contains neither its key, nor its body, nor its answer in the clear [idempotency.kept-sealed]', async () => {
    await run({ key: 'a-secret-key', body: '{"prompt":"a-secret-prompt"}' }, 'settled');
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
});
