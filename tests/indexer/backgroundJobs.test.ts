import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../common/logger.ts';
import { startBackgroundJobs } from '../../indexer/background/jobs.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { until } from '../../testing/until.ts';

let mirror: MirrorDatabase;
const started: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  mirror = await createMirrorDatabase();
});

afterAll(async () => {
  for (const jobs of started) await jobs.close();
  await mirror?.close();
});

async function start(): Promise<void> {
  const logger = createLogger({ name: 'test', level: 'silent' });
  const { pool, databaseUrl } = mirror;
  started.push(await startBackgroundJobs({ pool, databaseUrl, logger, pollSeconds: 0.5 }));
}

const countRequests = async (): Promise<number> => {
  const { rows } = await mirror.pool.query(
    'select count(*)::integer as count from service.idempotent_requests',
  );
  return rows[0]?.count;
};

describe('background jobs', () => {
  it('are scheduled once a minute, however many processes run them', async () => {
    await start();
    await start();
    const { rows } = await mirror.pool.query(
      'select name, cron from pgboss.schedule order by name',
    );
    expect(rows).toEqual([
      { name: 'delete-old-deliveries', cron: '* * * * *' },
      { name: 'delete-old-keys', cron: '* * * * *' },
      { name: 'delete-old-measurements', cron: '* * * * *' },
      { name: 'delete-old-requests', cron: '* * * * *' },
      { name: 'delete-old-sessions', cron: '* * * * *' },
    ]);
  });

  it('delete expired requests', async () => {
    await mirror.pool.query(
      `insert into service.idempotent_requests (wallet, request_key, body_hmac, job_id, expires_at)
       values ('a wallet', 'old', '', 'a job', now()),
         ('a wallet', 'new', '', 'a job', now() + interval '1 day')`,
    );
    // What the schedule does when its minute comes.
    await mirror.pool.query(`insert into pgboss.job (name) values ('delete-old-requests')`);
    await until(async () => (await countRequests()) === 1);
  });
});
