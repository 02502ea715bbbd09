import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { assertRights } from '../../api/sql/schema.ts';
import { createPool } from '../../common/postgres.ts';
import { rebuildMirror } from '../../indexer/mirror/rebuild.ts';
import { connectNode } from '../../indexer/source/node.ts';
import { createLedgerSource } from '../../indexer/source/source.ts';
import { readMigrationState } from '../../indexer/sql/migrate.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { MACHINE_ENVIRONMENT, PROJECT_FOLDER } from '../../testing/childProcess.ts';
import { runCli } from '../../testing/cli.ts';
import { createTestDatabase, execute } from '../../testing/database/database.ts';
import { needs } from '../../testing/machine/needs.ts';
import { drawValues, runScript } from '../../testing/machine/shell.ts';
import { requestCompletion } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { type CallConsole, consoleAt, signIn } from '../console/server/consoleScene.ts';
import { codeBlocks, readDocuments } from '../docs/documents.ts';

const page = readDocuments().find(({ path }) => path === 'docs/deploying.md');
const block = page && codeBlocks(page, ['sh']).find((text) => text.includes('svc roles'));
if (!block) throw new Error('docs/deploying.md says nothing of svc roles');

const openssl = needs('openssl');
const operator = Keypair.generate();
let folder: string;
let service: RunningService;
let urls: Record<'indexer' | 'api', string>;

/** Does what the page says, and once more: the second time changes the passwords. */
async function makeUsers(adminUrl: string): Promise<void> {
  for (let time = 0; time < 2; time += 1) {
    const script = drawValues(String(block), openssl).replace('postgres://…', adminUrl);
    const env = { ...MACHINE_ENVIRONMENT, HOME: folder };
    await runScript(script, { cwd: folder, env, flags: '-euc' });
  }
  const read = (user: string) => readFileSync(join(folder, `keys/${user}-database-url`), 'utf8');
  urls = { indexer: read('indexer').trim(), api: read('api').trim() };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roles-'));
  mkdirSync(join(folder, 'keys'), { mode: 0o700 });
  for (const name of ['node_modules', 'cli', 'package.json']) {
    symlinkSync(join(PROJECT_FOLDER, name), join(folder, name));
  }
  service = await startRunningService({
    indexerSettings: async ({ DATABASE_URL }) => {
      await makeUsers(DATABASE_URL);
      return { DATABASE_URL: urls.indexer };
    },
    apiSettings: async () => ({
      DATABASE_URL: urls.api,
      SVC_CONSOLE_OPERATORS: operator.publicKey.toBase58(),
    }),
  });
});

afterAll(async () => {
  await service?.close();
  rmSync(folder, { recursive: true });
});

const refused = (statement: string, user: 'indexer' | 'api' = 'api') =>
  execute(urls[user], statement).then(
    () => 'allowed',
    ({ code }: { code: string }) => code,
  );
/** SQLSTATE of a right that is lacking. */
const LACKS_RIGHT = '42501';

describe('the service whose indexer and API have a database user each', () => {
  it('runs as these users, who are no superusers and own what they should', async () => {
    const users = await execute(
      service.indexerEnvironment.DATABASE_URL as string,
      `select distinct application_name, usename from pg_stat_activity
       where datname = current_database() and application_name in ('svc-api', 'svc-indexer')
       order by 1`,
    );
    expect(users).toEqual([
      { application_name: 'svc-api', usename: 'svc_api' },
      { application_name: 'svc-indexer', usename: 'svc_indexer' },
    ]);
    const { rows } = await service.pool.query(
      `select distinct rolname, rolsuper or rolcreaterole or rolcreatedb as may_more
       from pg_class join pg_roles owner on owner.oid = relowner
       join pg_namespace held on held.oid = relnamespace
       where nspname in ('service', 'mirror', 'pgboss')`,
    );
    expect(rows).toEqual([{ rolname: 'svc_indexer', may_more: false }]);
  });

  it('answers, keeps and repeats completions, and shows jobs and webhooks', async () => {
    const headers = { 'idempotency-key': 'once' };
    for (const form of ['plain', 'stream', 'plain'] as const) {
      const asking = { form, headers: form === 'plain' ? headers : {} };
      expect((await requestCompletion(service, asking)).status).toBe(200);
    }
    await service.untilMirrored();
    expect(await service.get('/v1/jobs')).toMatchObject({ data: [{ status: 'settled' }, {}] });
    const webhooks = async (path: string, method: string, body?: object) => {
      const authorization = `Bearer ${service.apiKey}`;
      const asked = { method, headers: { authorization }, body: JSON.stringify(body) ?? null };
      const response = await fetch(`${service.baseUrl}/v1/webhooks${path}`, asked);
      expect([method, response.status]).toEqual([method, 200]);
      return (await response.json()) as { id: string };
    };
    const wanted = { url: 'http://127.0.0.1:9/', events: ['job.completed'] };
    const { id } = await webhooks('', 'POST', wanted);
    await webhooks(`/${id}`, 'DELETE');
  });

  it('serves the web app: sessions, keys, thresholds, webhooks, operators', async () => {
    const { origin } = new URL(service.baseUrl);
    const call: CallConsole = consoleAt(service.baseUrl, origin, { isReal: true });
    const wallet = Keypair.generate();
    const cookie = await signIn(call, wallet);
    const asked: [route: string, body?: unknown][] = [
      ['POST /key'],
      ['POST /key/regenerate'],
      ['GET /key'],
      ['PUT /threshold', { threshold_credits: 5 }],
      ['GET /threshold'],
      ['GET /webhooks'],
      ['GET /jobs'],
      ['GET /account'],
      ['GET /workers'],
      ['GET /status'],
      ['DELETE /key'],
      ['DELETE /session'],
    ];
    for (const [route, body] of asked) {
      const { status } = await call(route, { cookie, ...(body !== undefined && { body }) });
      expect([route, status]).toEqual([route, 200]);
    }
    const asOperator = await signIn(call, operator);
    for (const [deed, body] of [['suspend', { reason: 'test' }], ['reinstate']] as const) {
      const route = `POST /operator/keys/${service.wallet.publicKey}/${deed}`;
      const { status } = await call(route, { cookie: asOperator, ...(body && { body }) });
      expect([route, status < 300]).toEqual([route, true]);
    }
  });

  it('lets operators look after keys as the API, and migrate as the indexer', async () => {
    const wallet = Keypair.generate().publicKey.toBase58();
    const asApi = { env: { DATABASE_URL: urls.api } };
    expect(await runCli(['keys', 'create', '--wallet', wallet], asApi)).toMatchObject({ code: 0 });
    const migrated = await runCli(['migrate'], { env: { DATABASE_URL: urls.indexer } });
    expect(migrated).toMatchObject({ code: 0, output: expect.stringContaining('0 migrations') });
    expect(await runCli(['migrate'], asApi)).toMatchObject({
      code: 1,
      error: expect.stringMatching(/^\S.*permission denied for .*its user lacks a right.*\n$/),
    });
  });
});

describe('the user of the API', () => {
  it('reads the whole mirror, and writes all but four tables of the service', async () => {
    const { rows } = await service.pool.query<{ name: string; rights: string }>(
      `select schemaname || '.' || tablename as name,
              concat_ws(' ', case when has_table_privilege('svc_api', at, 'select') then 'read' end,
                             case when has_table_privilege('svc_api', at, 'insert')
                                   and has_any_column_privilege('svc_api', at, 'update')
                                  then 'write' end) as rights
       from pg_tables, format('%I.%I', schemaname, tablename) as at
       where schemaname in ('mirror', 'service', 'pgboss')`,
    );
    const namesWith = (rights: string) =>
      rows.flatMap((row) => (row.rights === rights ? row.name : [])).sort();
    const reading = namesWith('read');
    expect(reading.filter((name) => !name.startsWith('mirror.'))).toEqual([
      'service.announcements',
      'service.ledger',
      'service.migrations',
      'service.webhook_attempts',
    ]);
    const writing = namesWith('read write');
    expect(writing).toContain('service.api_keys');
    expect(writing.every((name) => name.startsWith('service.'))).toBe(true);
    expect(namesWith('').every((name) => name.startsWith('pgboss.'))).toBe(true);
    expect(rows.length).toBe(reading.length + writing.length + namesWith('').length);
  });

  it.each([
    "update mirror.workers set endpoint = 'https://thief.example'",
    "insert into mirror.cursors (name, slot) values ('x', 1)",
    'truncate mirror.journal',
    'drop table mirror.jobs',
    'drop schema mirror cascade',
    'alter table service.api_keys add column more text',
    'drop table service.api_keys',
    'truncate service.api_keys',
    'create schema other',
    'create table service.other ()',
    'create function mirror.other() returns void language sql as $$ $$',
    'select from pgboss.job',
    'alter role svc_indexer password null',
    'set role svc_indexer',
    "copy service.api_keys to program 'true'",
    'create temporary table other ()',
    'create temporary table other as select repeat(md5(secret), 9) from service.request_secret',
    'select lo_create(0)',
    "select lo_from_bytea(0, 'x')",
    "select lo_put(1, 0, 'x')",
    'begin; lock table mirror.jobs in row exclusive mode',
    "select service.delete_rows('migrations', array(select ctid from service.migrations))",
  ])('may not: %s', async (statement) => {
    expect(await refused(statement)).toBe(LACKS_RIGHT);
  });

  it('locks no table, and has no idle transaction of more than a minute', async () => {
    // A right of an earlier version goes at the next migration.
    await service.pool.query('grant delete on service.api_keys to svc_api');
    await runCli(['migrate'], { env: { DATABASE_URL: urls.indexer } });
    const { rows } = await service.pool.query<{ at: string }>(
      `select format('%I.%I', schemaname, tablename) as at from pg_tables
       where schemaname in ('mirror', 'service')`,
    );
    for (const { at } of rows) {
      // The weakest lock that an insert has to wait for.
      const lock = await refused(`begin; lock table ${at} in share mode`);
      const deletion = await refused(`delete from ${at} where false`);
      expect([at, lock, deletion]).toEqual([at, LACKS_RIGHT, LACKS_RIGHT]);
    }
    const [idle] = await execute(urls.api, 'show idle_in_transaction_session_timeout');
    expect(idle).toEqual({ idle_in_transaction_session_timeout: '1min' });
  });

  it('reads a mirror that was rebuilt', async () => {
    const pool = createPool({ databaseUrl: urls.indexer, applicationName: 'test', max: 2 });
    const programId = createAddresses().programId;
    const { differing } = await rebuildMirror({
      pool,
      source: createLedgerSource({ node: connectNode({ url: service.ledger.rpcUrl }), programId }),
      addresses: createAddresses(),
      signal: new AbortController().signal,
      onFolded: () => undefined,
    });
    await pool.end();
    expect(differing).toEqual([]);
    expect(await refused('select from mirror.jobs')).toBe('allowed');
    expect((await requestCompletion(service, { form: 'plain' })).status).toBe(200);
  });
});

describe('a user of the API that lacks a right', () => {
  it.each([
    ['select on mirror.jobs', 'mirror.jobs'],
    ['insert on service.idempotent_requests', 'service.idempotent_requests'],
    ['usage on schema mirror', 'mirror.'],
  ])('ends its start with the name of what it may not use: %s', async (right, name) => {
    const pool = createPool({ databaseUrl: urls.api, applicationName: 'test', max: 1 });
    await assertRights(pool);
    await service.pool.query(`revoke ${right} from svc_api`);
    await expect(assertRights(pool)).rejects.toThrow(
      `DATABASE_URL: its user svc_api may not use ${name}`,
    );
    await pool.end();
    // The next start of an indexer gives it back.
    await runCli(['migrate'], { env: { DATABASE_URL: urls.indexer } });
    const again = createPool({ databaseUrl: urls.api, applicationName: 'test', max: 1 });
    await assertRights(again);
    await again.end();
  });
});

describe('the user of the indexer', () => {
  it.each([
    'create database other',
    'create role other',
    'alter role svc_api password null',
    'alter system set work_mem = 1',
    "copy service.api_keys to program 'true'",
  ])('may not: %s', async (statement) => {
    expect(await refused(statement, 'indexer')).toBe(LACKS_RIGHT);
  });
});

describe('a new database', () => {
  it('is made by its users alone, from the first migration on', async () => {
    const empty = await createTestDatabase({ isEmpty: true });
    const { pathname } = new URL(empty.databaseUrl);
    const at = (url: string) => Object.assign(new URL(url), { pathname }).href;
    for (const user of ['indexer', 'api'] as const) {
      writeFileSync(join(folder, user), at(urls[user]));
    }
    const files = ['--indexer', join(folder, 'indexer'), '--api', join(folder, 'api')];
    const made = await runCli(['roles', ...files], { env: { DATABASE_URL: empty.databaseUrl } });
    expect(made).toMatchObject({ code: 0, output: expect.stringContaining('svc_api may use') });
    const migrated = await runCli(['migrate'], { env: { DATABASE_URL: at(urls.indexer) } });
    expect(migrated.code).toBe(0);
    const pool = createPool({ databaseUrl: at(urls.api), applicationName: 'test', max: 1 });
    expect(await readMigrationState(pool)).toMatchObject({ missing: 0 });
    await pool.query('select from mirror_first.jobs');
    await pool.query("select service.delete_rows('api_keys', '{}')");
    await pool.end();
    await empty.close();
  });

  it('is not made for an address of another user', async () => {
    writeFileSync(join(folder, 'other'), 'postgres://svc:secret@127.0.0.1/svc');
    const files = ['--indexer', join(folder, 'other'), '--api', join(folder, 'none')];
    const { code, error } = await runCli(['roles', ...files], { env: { DATABASE_URL: urls.api } });
    expect([code, error]).toEqual([
      1,
      expect.stringContaining('postgres://svc_indexer:<password>'),
    ]);
    expect(error).not.toContain('secret');
  });
});
