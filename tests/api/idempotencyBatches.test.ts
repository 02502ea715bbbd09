import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { createKey } from '../../api/account/keys.ts';
import { selectKeysAndAccounts } from '../../api/sql/accounts.ts';
import { selectJobsProgress } from '../../api/sql/jobs.ts';
import { selectAnswer, selectRequests } from '../../api/sql/repeats.ts';
import {
  claimRequests,
  deleteRequest,
  expireRequests,
  LEASE_SECONDS,
  type NewRequest,
  storeAnswers,
} from '../../api/sql/requests.ts';
import { createPool, type Database, inTransaction } from '../../common/postgres.ts';
import { deleteOldRequests } from '../../indexer/background/expiredRows.ts';
import { createRandom } from '../../testing/random.ts';
import { type KeyedDatabase, openKeyedDatabase } from './keyedDatabase.ts';

const random = createRandom();
const LIFETIME_SECONDS = 600;
const WALLETS = ['wallet 0', 'wallet 1', 'wallet 2'];
let database: KeyedDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await openKeyedDatabase();
  pool = database.pool;
  for (const wallet of WALLETS) await createKey(pool, wallet);
});

afterAll(() => database.close());

beforeEach(async () => {
  await pool.query('truncate service.idempotent_requests, service.answer_copies');
});

const requestOf = (place: number, jobId = `job ${place}`): NewRequest => ({
  wallet: WALLETS[place % WALLETS.length] as string,
  requestKey: Buffer.from(`key ${place}`),
  bodyHmac: Buffer.from(`body ${place}`),
  jobId,
  lifetimeSeconds: LIFETIME_SECONDS,
});

const answerOf = ({ wallet, requestKey, jobId }: NewRequest) => ({
  ...{ wallet, requestKey, jobId, lifetimeSeconds: LIFETIME_SECONDS },
  sealed: Buffer.from(`answer of ${jobId}`),
});

const selectRequest = async (from: Database, request: NewRequest) =>
  (await selectRequests(from, request, { hasTwins: false }))[0];

function shuffled<Item>(items: readonly Item[]): Item[] {
  const rest = [...items];
  return items.map(() => rest.splice(random.below(rest.length), 1)[0] as Item);
}

describe(`requests that share a statement (seed ${random.seed})`, () => {
  it('are each stored with their own answer', async () => {
    const requests = Array.from({ length: 100 }, (_, place) => requestOf(place));
    // For the database, a transaction is one moment: no lease grows shorter in it.
    await inTransaction(pool, async (client) => {
      await claimRequests(client, shuffled(requests));
      await storeAnswers(client, shuffled(requests).map(answerOf));
      for (const request of requests) {
        expect(await selectRequest(client, request)).toEqual({
          request_key: request.requestKey,
          job_id: request.jobId,
          body_hmac: request.bodyHmac,
          lease_seconds: LEASE_SECONDS,
          is_lost: false,
        });
        expect(await selectAnswer(client, request.jobId)).toEqual(answerOf(request).sealed);
      }
    });
  });

  it('stand beside others with the same body, each with its own answer', async () => {
    const twins = ['first', 'second', 'third'].map((jobId) => requestOf(1, jobId));
    const given = [...twins, requestOf(2)];
    const keys = await claimRequests(pool, given);
    const claimed = given.map((request, place) => ({
      ...request,
      requestKey: keys[place] as Buffer,
    }));
    expect(new Set(keys.map(String)).size).toBe(4);
    await storeAnswers(pool, claimed.map(answerOf));
    for (const request of claimed) {
      expect(await selectRequest(pool, request)).toMatchObject({ job_id: request.jobId });
      expect(await selectAnswer(pool, request.jobId)).toEqual(answerOf(request).sealed);
    }
    const found = await selectRequests(pool, requestOf(1), { hasTwins: true });
    expect(found.map(({ job_id }) => job_id)).toEqual(['third', 'second', 'first']);
  });

  it('take the place of one whose answer was delivered, and of its answer', async () => {
    await claimRequests(pool, [requestOf(1, 'earlier'), requestOf(2)]);
    await storeAnswers(pool, [answerOf(requestOf(1, 'earlier'))]);
    await expireRequests(pool, [requestOf(1, 'another'), requestOf(1, 'earlier')]);
    expect(await selectRequest(pool, requestOf(1))).toBeUndefined();
    expect(await selectRequest(pool, requestOf(2))).toMatchObject({ job_id: 'job 2' });
    expect(await claimRequests(pool, [requestOf(1, 'later')])).toEqual([requestOf(1).requestKey]);
    await storeAnswers(pool, [answerOf(requestOf(1, 'earlier')), answerOf(requestOf(2))]);
    expect(await selectRequest(pool, requestOf(1))).toMatchObject({ job_id: 'later' });
    expect(await selectAnswer(pool, 'later')).toBeNull();
  });

  it('never deadlock, in any order', async () => {
    const places = Array.from({ length: 40 }, (_, place) => place);
    const instance = async (name: string) => {
      for (let round = 0; round < 25; round += 1) {
        const requests = places.map((place) => requestOf(place, `${name} ${round} ${place}`));
        await claimRequests(pool, shuffled(requests));
        await storeAnswers(pool, shuffled(requests).map(answerOf));
        await expireRequests(pool, shuffled(requests).slice(0, 20));
        await deleteOldRequests(pool);
        await deleteRequest(pool, requests[random.below(requests.length)] as NewRequest);
      }
    };
    await Promise.all(['a', 'b', 'c', 'd'].map(instance));
  });

  it('do not block the deletion of expired rows', async () => {
    await claimRequests(pool, [{ ...requestOf(1), lifetimeSeconds: -1 }, requestOf(2)]);
    await inTransaction(pool, async (client) => {
      await claimRequests(client, [{ ...requestOf(1, 'again'), lifetimeSeconds: -1 }]);
      await deleteOldRequests(pool);
    });
    const { rows } = await pool.query('select job_id from service.idempotent_requests order by 1');
    expect(rows).toEqual([{ job_id: 'again' }, { job_id: 'job 2' }]);
    await deleteOldRequests(pool);
    const left = await pool.query('select job_id from service.idempotent_requests');
    expect(left.rows).toEqual([{ job_id: 'job 2' }]);
  });
});

const shareable = {
  ...{ keySha256: 'hash', wallet: 'wallet', jobId: 'job', lifetimeSeconds: 1 },
  ...{ requestKey: Buffer.of(1), bodyHmac: Buffer.of(2), sealed: Buffer.of(3) },
};
const shared: Record<string, (database: Database) => Promise<unknown>> = {
  'reads keys and balances': (database) => selectKeysAndAccounts(database, ['hash']),
  'claims requests': (database) => claimRequests(database, [shareable]),
  'keeps answers': (database) => storeAnswers(database, [shareable]),
  'notes deliveries': (database) => expireRequests(database, [shareable]),
  'reads how jobs stand': (database) => selectJobsProgress(database, ['address']),
};

async function textOf(run: (database: Database) => Promise<unknown>): Promise<string> {
  let text = '';
  const query = async (statement: { text: string }) => {
    text = statement.text;
    return { rows: [] };
  };
  await run({ query } as unknown as Database);
  return text;
}

describe('the statement that', () => {
  // A connection keeps its plans, and those are often made while there is next to nothing.
  it.each(Object.entries(shared))('%s scans no table', async (_title, run) => {
    const { rows } = await database.pool.query<{ 'QUERY PLAN': string }>(
      `explain (generic_plan) ${await textOf(run)}`,
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).not.toMatch('Seq Scan');
    expect(plan).toMatch('Function Scan on');
  });
});

describe('a pool that plans once', () => {
  it('does not plan a shared statement again, however few its items are', async () => {
    const planned = createPool({
      ...{ databaseUrl: database.databaseUrl, applicationName: 'test', max: 1 },
      plansOnce: true,
    });
    for (let time = 0; time < 20; time += 1) {
      await claimRequests(planned, [{ ...shareable, jobId: `job ${time}` }]);
    }
    const { rows } = await planned.query(
      `select generic_plans, custom_plans from pg_prepared_statements where name = 'claim_requests'`,
    );
    await planned.end();
    expect(rows).toEqual([{ generic_plans: 20n, custom_plans: 0n }]);
  });
});
