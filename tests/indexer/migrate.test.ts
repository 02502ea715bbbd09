import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { listKeys } from '../../api/account/keys.ts';
import { reinstateWallet } from '../../api/account/suspensions.ts';
import { digestTables } from '../../indexer/sql/digest.ts';
import { DatabaseTooNewError, migrate, readMigrationState } from '../../indexer/sql/migrate.ts';
import { listMigrations, type Migration } from '../../indexer/sql/schema.ts';
import { openPooledDatabase, type PooledDatabase } from '../../testing/database/pooledDatabase.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { addresses, createScene } from '../../testing/indexer/scene.ts';
import { until } from '../../testing/until.ts';
import { liveThrough } from './life.ts';
import { copyRows, listColumns, migrateUntil } from './olderSchema.ts';
import { dumpSchema } from './schemaDump.ts';

let database: PooledDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await openPooledDatabase({ isEmpty: true });
  pool = database.pool;
});

afterAll(() => database?.close());

/** A migration that changes the table of the jobs; the next one changes that of the deliveries. */
const CHANGES_JOBS = 17;

/** Until so many connections of the database wait for a table. */
const untilWaiting = (database: pg.Pool, count: number): Promise<void> =>
  until(async () => {
    const { rowCount } = await database.query(
      `select from pg_locks join pg_database on pg_database.oid = pg_locks.database
       where datname = current_database() and not granted`,
    );
    return rowCount === count;
  });

describe('migrate', () => {
  it('applies every migration once when ten processes start together', async () => {
    await Promise.all(Array.from({ length: 10 }, () => migrate(pool)));
    const { rows } = await pool.query('select id from service.migrations order by id');
    const migrations = await listMigrations();
    expect(migrations.length).toBeGreaterThan(3);
    expect(rows).toEqual(migrations.map(({ id }) => ({ id })));
  });

  it('changes nothing the second time and keeps the stored rows', async () => {
    await pool.query(
      `insert into service.api_keys (key_sha256, wallet, status) values ('a', 'b', 'active')`,
    );
    await pool.query(`insert into mirror.cursors (name, slot) values ('confirmed', 7)`);
    await migrate(pool);
    expect((await pool.query('select from service.api_keys')).rowCount).toBe(1);
    expect((await pool.query('select from mirror.cursors')).rowCount).toBe(1);
  });

  it.each([
    ['was dropped', 'drop schema mirror cascade'],
    ['is an empty schema', 'drop schema mirror cascade; create schema mirror'],
  ])('creates the mirror again when it %s, and keeps the keys', async (_how, loss) => {
    const before = await dumpSchema(pool);
    expect(before.length).toBeGreaterThan(100);
    await pool.query(loss);
    await Promise.all([migrate(pool), migrate(pool)]);
    expect(await dumpSchema(pool)).toEqual(before);
    expect((await pool.query('select from mirror.cursors')).rowCount).toBe(0);
    expect((await pool.query('select from service.api_keys')).rowCount).toBe(1);
  });

  it('recreates the mirror of an earlier release’s backup, as it is today', async () => {
    const before = await dumpSchema(pool);
    await pool.query('drop schema mirror cascade');
    await pool.query('delete from service.migrations where id in (6, 7)');
    await migrate(pool);
    expect(await dumpSchema(pool)).toEqual(before);
  });

  it('runs again when the release before locks the same tables otherwise', async () => {
    const migrations = await listMigrations();
    const older = migrations.find(({ id }) => id === CHANGES_JOBS) as Migration;
    const lacking = await createMirrorDatabase({ bringUp: (empty) => migrateUntil(empty, older) });
    const gate = await lacking.pool.connect();
    await gate.query('begin; lock table mirror.jobs in access exclusive mode');
    const other = await lacking.pool.connect();
    // PostgreSQL ends the transaction that first looks for a deadlock: never this one.
    await other.query(`begin; set local deadlock_timeout = '1h'`);
    await other.query('lock table service.webhook_deliveries in share mode');
    const migrating = migrate(lacking.pool);
    await untilWaiting(lacking.pool, 1);
    const locked = other.query('lock table service.migrations in access exclusive mode');
    await untilWaiting(lacking.pool, 2);
    await gate.query('commit');
    gate.release();
    // The migration goes on to the deliveries and is ended there.
    await locked;
    await other.query('commit');
    other.release();
    await migrating;
    expect(await readMigrationState(lacking.pool)).toMatchObject({ missing: 0 });
    await lacking.close();
  });

  it('loses nothing when svc migrate is killed half-way, and then finishes', async () => {
    const migrations = await listMigrations();
    const tenth = migrations.find(({ id }) => id === 10) as Migration;
    const lacking = await createMirrorDatabase({ bringUp: (empty) => migrateUntil(empty, tenth) });
    const state = () => readMigrationState(lacking.pool);
    const before = await state();
    await lacking.pool.query(
      `insert into service.api_keys (key_sha256, wallet, status) values ('a', 'w', 'active')`,
    );
    // The tenth is done by then, and the next one waits.
    const other = await lacking.pool.connect();
    await other.query('begin; lock table service.webhook_deliveries in access exclusive mode');
    const svc = fileURLToPath(new URL('../../cli/main.ts', import.meta.url));
    const child = spawn(process.execPath, [svc, 'migrate'], {
      env: { ...process.env, DATABASE_URL: lacking.databaseUrl },
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    await untilWaiting(lacking.pool, 1);
    child.kill('SIGKILL');
    await ended;
    await other.query('commit');
    other.release();
    await until(async () => {
      const { rowCount } = await lacking.pool.query(
        `select from pg_stat_activity
         where datname = current_database() and backend_type = 'client backend'
           and application_name <> 'test'`,
      );
      return rowCount === 0;
    });
    expect(await state()).toEqual(before);
    await migrate(lacking.pool);
    expect(await state()).toMatchObject({ missing: 0 });
    const { rows } = await lacking.pool.query('select key_sha256 from service.api_keys');
    expect(rows).toEqual([{ key_sha256: 'a' }]);
    await lacking.close();
  });

  it('refuses a database that a newer release has migrated', async () => {
    await pool.query('insert into service.migrations (id) values (999)');
    await expect(migrate(pool)).rejects.toThrow(DatabaseTooNewError);
  });
});

/** Before it, a suspension was one key's. */
const SUSPENDS_WALLETS = 25;

describe('a suspension of an earlier release', () => {
  let older: MirrorDatabase;

  beforeAll(async () => {
    const next = (await listMigrations()).find(({ id }) => id === SUSPENDS_WALLETS) as Migration;
    older = await createMirrorDatabase({ bringUp: (empty) => migrateUntil(empty, next) });
    // `rid` is rid of one, and `twice` of one before another. `kept` and `twice` have a live key.
    await older.pool.query(`
      insert into service.api_keys (key_sha256, wallet, status, revoked_at) values
        ('k', 'kept', 'suspended', null), ('r1', 'rid', 'revoked', now()),
        ('r2', 'rid', 'active', null), ('t1', 'twice', 'revoked', now()),
        ('t2', 'twice', 'suspended', null), ('l', 'lifted', 'active', null);
      insert into service.key_suspensions
        (key_sha256, wallet, suspended_by, reason, lifted_at, forgiven_until) values
        ('k', 'kept', 'operator', 'a', null, null), ('r1', 'rid', 'indexer', 'b', null, null),
        ('t1', 'twice', 'indexer', 'c', null, null), ('t2', 'twice', 'indexer', 'd', null, null),
        ('l', 'lifted', 'operator', 'e', now(), 7)`);
    await migrate(older.pool);
  });

  afterAll(() => older?.close());

  it('is its wallet’s, and stays lifted where it was lifted', async () => {
    const state = async () =>
      Object.fromEntries(
        (await listKeys(older.pool))
          .filter(({ status }) => status !== 'revoked')
          .map(({ wallet, status, suspension_reason }) => [wallet, [status, suspension_reason]]),
      );
    expect(await state()).toEqual({
      ...{ kept: ['suspended', 'a'], rid: ['suspended', 'b'], twice: ['suspended', 'd'] },
      lifted: ['active', null],
    });
    await reinstateWallet(older.pool, 'twice');
    expect(await state()).toMatchObject({ twice: ['active', null] });
  });

  it('can still be made by a process of that release', async () => {
    await older.pool.query(
      `update service.api_keys set status = 'suspended' where wallet = 'lifted';
       insert into service.key_suspensions (key_sha256, wallet, suspended_by, reason)
       values ('l', 'lifted', 'operator', 'f')`,
    );
    const [key] = await listKeys(older.pool, { wallet: 'lifted' });
    expect(key).toMatchObject({ status: 'suspended', suspension_reason: 'f' });
  });
});

/** All but the first, before which there was no release. */
const laterMigrations = (await listMigrations()).slice(1);

/** What no fold writes: a row of each table that would otherwise be empty. */
const OTHER_ROWS = `
  insert into mirror.cursors values ('confirmed', 7);
  insert into mirror.ledger (genesis_hash, program_id) values ('a', '${addresses.programId}');
  insert into service.api_keys (key_sha256, wallet, status) values ('a', 'w', 'active');
  insert into service.key_suspensions (key_sha256, wallet, suspended_by, reason)
    values ('a', 'w', 'operator', 'r');
  insert into service.worker_observations values ('w', 'm', 1);
  insert into service.webhooks (id, wallet, url, events, api_version, secret)
    values ('a', 'w', 'u', '{job.failed}', 'v', 's');
  insert into service.webhook_deliveries (webhook_id, event_id, event, created_at, body, status)
    values ('a', 'e', 'job.failed', now(), 'b', 'delivered');
  insert into service.webhook_attempts (delivery_id, attempt)
    select id, 1 from service.webhook_deliveries;
  insert into service.credit_alerts (wallet) values ('w');
  insert into service.announcements (floor_slot, swept_slot) values (1, 2);
  insert into service.idempotent_requests (wallet, request_key, body_hmac, job_id, expires_at)
    values ('w', 'k', 'b', 'j', now());
  insert into service.answer_copies values ('j', 'a', now());
  insert into service.sessions (token_sha256, id, wallet, browser) values ('t', 's', 'w', 'b');
  insert into service.used_sign_ins values ('n', now());
  insert into service.webhook_listeners (session_id, wallet, stream_id) values ('s', 'w', 'c');
  insert into service.listener_events (session_id, event_id, awaits_finality, body)
    values ('s', 'e', false, 'b');
  insert into service.requested_deliveries (whose, deliveries) values ('wallet w', 1);
  insert into service.job_timings (job, wallet, model_id) values ('j', 'w', 'm');
  insert into service.worker_hours (worker, model_id, hour) values ('w', 'm', now());
  insert into service.worker_probes values ('w', now(), 1, 1);
  insert into service.readiness_minutes values (now(), '{workers}')`;

describe('a database with rows of an earlier release', () => {
  let filled: MirrorDatabase;
  let digest: Record<string, string>;

  beforeAll(async () => {
    const scene = await createScene();
    await liveThrough(scene);
    filled = await createMirrorDatabase();
    await filled.apply(await scene.read());
    await filled.pool.query(OTHER_ROWS);
    digest = await digestTables(filled.pool);
    await scene.ledger.close();
  });

  afterAll(() => filled?.close());

  it('has rows in every table in this test', async () => {
    for (const table of (await listColumns(filled.pool)).keys()) {
      const { rowCount } = await filled.pool.query(`select from ${table} limit 1`);
      expect([table, rowCount]).toEqual([table, 1]);
    }
  });

  // A migration fills a new column of old rows from the journal. Else the indexer would find each such
  // row wrong, and would stay unready until an operator rebuilds the mirror.
  it.each(laterMigrations)(
    'migrates its rows to what this release folds (migration $id)',
    async (migration) => {
      const older = await createMirrorDatabase({
        bringUp: (empty) => migrateUntil(empty, migration),
      });
      try {
        await copyRows(filled.pool, older.pool);
        await migrate(older.pool);
        expect(await digestTables(older.pool)).toEqual(digest);
      } finally {
        await older.close();
      }
    },
  );
});
