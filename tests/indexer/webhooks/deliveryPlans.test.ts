import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type pg from 'pg';
import type { Database } from '../../../common/postgres.ts';
import { explain, type Readings } from '../../../testing/database/plans.ts';
import {
  openPooledDatabase,
  type PooledDatabase,
} from '../../../testing/database/pooledDatabase.ts';
import { type DeliveryFilter, listDeliveries } from '../../../webhookOperations/deliveries.ts';

const WEBHOOKS = 5;
const DELIVERIES = 20_000;
const LIMIT = 10;
/** For each webhook a page and the way down its index, and then the attempts of those that are shown. */
const BLOCKS_MAX = WEBHOOKS * (LIMIT + 1 + 5) + LIMIT * 8;

let database: PooledDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await openPooledDatabase();
  pool = database.pool;
  for (const wallet of ['busy', 'other']) {
    await pool.query(
      `insert into service.webhooks (id, wallet, url, events, api_version, secret)
       select $1 || number, $1, 'https://example.com/' || number, '{job.completed}', '', ''
       from generate_series(0, $2::integer - 1) number`,
      [wallet, WEBHOOKS],
    );
    // One job is announced to every webhook.
    await pool.query(
      `insert into service.webhook_deliveries (webhook_id, event_id, event, job_id, signature,
         created_at, body, status, attempts)
       select $1 || place % $2, 'evt_' || place / $2,
         case when place % 2000 = 7 then 'credit.low' else 'job.completed' end,
         'job_' || place / $2, 'tx', now(), repeat('x', 600),
         case when place % 2000 = 8 then 'failed' else 'delivered' end, 1
       from generate_series(0, $3::integer - 1) place`,
      [wallet, WEBHOOKS, DELIVERIES],
    );
  }
  await pool.query(
    `insert into service.webhook_attempts (delivery_id, attempt, url)
     select id, 1, 'https://hooks.example.com/' from service.webhook_deliveries`,
  );
  await pool.query('vacuum analyze service.webhook_deliveries, service.webhook_attempts');
});

afterAll(() => database?.close());

/** The database, asked for the plan of each statement before it is run. */
function explaining(readings: Readings): Database {
  const query = async (text: string, values: unknown[]) => {
    await explain(pool, readings, text, values);
    return pool.query(text, values);
  };
  return { query } as unknown as Database;
}

it.each<[string, Partial<DeliveryFilter>, number]>([
  ['all webhooks', {}, LIMIT],
  ['one webhook', { webhook: { id: 'busy3', wallet: 'busy' } }, LIMIT],
  ['one state', { statuses: ['failed'] }, LIMIT],
  ['a state that none has', { statuses: ['pending'] }, 0],
  ['a rare kind', { event: 'credit.low' }, LIMIT],
  ['a kind that none has', { event: 'worker.slashed' }, 0],
  ['one event', { eventId: 'evt_7' }, WEBHOOKS],
  ['one job', { jobId: 'job_7' }, WEBHOOKS],
  ['a job without deliveries', { jobId: 'job_x' }, 0],
  ['a time before them', { until: new Date(0) }, 0],
  ['a time after them', { since: new Date('2100-01-01') }, 0],
])(
  `a page of ${DELIVERIES} deliveries is read from the index: of %s`,
  async (_of, filter, count) => {
    for (const before of [undefined, BigInt(DELIVERIES)]) {
      const readings: Readings = { blocks: 0, rowsRemovedMax: 0 };
      const given: DeliveryFilter = { webhook: { id: null, wallet: 'busy' }, ...filter };
      const rows = await listDeliveries(explaining(readings), given, { limit: LIMIT, before });
      expect(rows).toHaveLength(count);
      expect(readings.rowsRemovedMax).toBeLessThanOrEqual(WEBHOOKS * 2);
      expect(readings.blocks).toBeGreaterThan(0);
      expect(readings.blocks).toBeLessThanOrEqual(BLOCKS_MAX);
    }
  },
);
