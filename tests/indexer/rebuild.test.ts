import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { SystemProgram } from '@solana/web3.js';
import { rebuildMirror } from '../../indexer/mirror/rebuild.ts';
import { inSnapshot } from '../../indexer/reconcile/difference.ts';
import { readLiveRows } from '../../indexer/reconcile/journal.ts';
import { RetryableError } from '../../indexer/source/errors.ts';
import type { LedgerSource } from '../../indexer/source/source.ts';
import { digestTables } from '../../indexer/sql/digest.ts';
import { runCli } from '../../testing/cli.ts';
import { startIndexerInProcess } from '../../testing/indexer/indexerProcess.ts';
import type { TestIndexer } from '../../testing/indexer/inProcessIndexer.ts';
import { createMirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { atEnd, ownMirror, ownScene } from '../../testing/indexer/own.ts';
import { addresses } from '../../testing/indexer/scene.ts';
import { stopClock } from '../../testing/ledger/ledger.ts';
import { until } from '../../testing/until.ts';
import { dumpSchema } from './schemaDump.ts';

const scene = await ownScene();
const mirror = await ownMirror();
let indexer: TestIndexer | undefined;

beforeAll(async () => {
  indexer = await startIndexerInProcess(scene.ledger, mirror.databaseUrl);
  for (let round = 0; round < 3; round += 1) await work();
  await scene.wait(10);
  // Or the keeper would refund jobs in between, on a machine that needs two minutes for all this.
  await stopClock(scene.ledger.connection);
  await untilMirrored();
});

afterEach(async () => {
  expect(await schemas()).toEqual(['mirror', 'service']);
});

atEnd(async () => {
  await indexer?.terminate();
});

/** A few jobs, each at another point of its life. */
async function work(): Promise<void> {
  const [settled, failed] = await scene.lock(3);
  if (!settled || !failed) throw new Error('three jobs were locked');
  await scene.acknowledge(settled);
  await scene.settle(settled);
  await scene.fail(failed);
}

async function untilMirrored(): Promise<void> {
  const onLedger = (await scene.read()).length;
  await until(async () => (await countTransactions()) >= onLedger);
}

async function countTransactions(): Promise<number> {
  const { rows } = await mirror.pool.query('select signature from mirror.transactions');
  return rows.length;
}

async function schemas(): Promise<string[]> {
  const { rows } = await mirror.pool.query<{ name: string }>(
    `select nspname as name from pg_namespace where nspname ~ '^(mirror|service)' order by 1`,
  );
  return rows.map(({ name }) => name);
}

function rebuild(fault: Partial<LedgerSource> = {}) {
  return rebuildMirror({
    pool: mirror.pool,
    source: { ...scene.source, ...fault },
    addresses,
    signal: new AbortController().signal,
    onFolded: () => {},
  });
}

/** Another mirror of the same ledger, made in one go. */
async function digestOfAnother(): Promise<Record<string, string>> {
  const another = await createMirrorDatabase();
  await another.apply(await scene.read());
  const digest = await digestTables(another.pool);
  await another.close();
  return digest;
}

describe('a rebuild', () => {
  it('yields the same mirror beside the indexer, which continues on it', async () => {
    const tableOf = async () => {
      const { rows } = await mirror.pool.query(`select 'mirror.jobs'::regclass::oid as oid`);
      return rows[0]?.oid;
    };
    const [schema, table] = [await dumpSchema(mirror.pool), await tableOf()];
    expect(await rebuild()).toEqual({ differing: [] });
    expect(await digestTables(mirror.pool)).toEqual(await digestOfAnother());
    expect(await dumpSchema(mirror.pool)).toEqual(schema);
    expect(await tableOf()).not.toEqual(table);
    await work();
    await untilMirrored();
    expect(await digestTables(mirror.pool)).toEqual(await digestOfAnother());
  });

  it('repairs a wrong mirror and reports where it was wrong', async () => {
    await mirror.pool.query(`update jobs set token_limit = 1 where status = 'settled'`);
    await mirror.pool.query(`delete from worker_models`);
    expect(await rebuild()).toEqual({ differing: ['jobs', 'worker_models'] });
    expect(await digestTables(mirror.pool)).toEqual(await digestOfAnother());
  });

  it('leaves rows alone that do not come from the ledger', async () => {
    await mirror.pool.query(
      `insert into service.api_keys (key_sha256, wallet, status) values ('a', 'b', 'active')`,
    );
    await rebuild();
    expect((await mirror.pool.query('select from service.api_keys')).rowCount).toBe(1);
  });

  it('announces no job [events.rebuild-silent]', async () => {
    const listener = await mirror.pool.connect();
    const announced: unknown[] = [];
    listener.on('notification', ({ payload }) => announced.push(payload));
    await listener.query('listen mirror_jobs');
    await rebuild();
    await listener.query('select 1');
    listener.release(true);
    expect(announced).toEqual([]);
  });

  it('never shows readers a half mirror, and prepared statements keep working', async () => {
    const jobs = (await mirror.pool.query('select from mirror.jobs')).rows.length;
    const stopping = new AbortController();
    let reads = 0;
    const read = async () => {
      const client = await mirror.pool.connect();
      while (!stopping.signal.aborted) {
        const { rows } = await client.query({
          name: 'count_jobs',
          text: `select count(*) as jobs, (select count(*) from mirror.credit_accounts) as wallets
                 from mirror.jobs job where job.sequence > $1`,
          values: [0],
        });
        expect(rows).toEqual([{ jobs: BigInt(jobs), wallets: 1n }]);
        reads += 1;
      }
      client.release();
    };
    const readers = [read(), read(), read()];
    for (let round = 0; round < 3; round += 1) await rebuild();
    stopping.abort();
    await Promise.all(readers);
    expect(reads).toBeGreaterThan(50);
  });

  it('ends a comparison that has read one mirror and would read the other', async () => {
    const begun = Promise.withResolvers<void>();
    const rebuilt = Promise.withResolvers<void>();
    const compared = inSnapshot(mirror.pool, async (database) => {
      await database.query('select');
      begun.resolve();
      await rebuilt.promise;
      return readLiveRows(database);
    });
    await begun.promise;
    await rebuild();
    rebuilt.resolve();
    await expect(compared).rejects.toThrow(RetryableError);
  });

  it('changes nothing when the ledger becomes unreachable in the middle', async () => {
    const before = await digestTables(mirror.pool);
    let left = 5;
    const read: LedgerSource['read'] = async (listed) => {
      left -= 1;
      if (left < 0) throw new RetryableError('out of reach');
      return scene.source.read(listed);
    };
    await expect(rebuild({ read })).rejects.toThrow('out of reach');
    expect(await schemas()).toContain('mirror_next');
    expect(await digestTables(mirror.pool)).toEqual(before);
    expect(await rebuild()).toEqual({ differing: [] });
  });

  it('includes what a node omits from its lists but the old mirror has', async () => {
    const [omitted] = (await scene.read()).filter(({ events }) => events.length > 0).slice(-4);
    const list: LedgerSource['list'] = async (query) =>
      (await scene.source.list(query)).filter(({ signature }) => signature !== omitted?.signature);
    expect(await rebuild({ list })).toEqual({ differing: [] });
  });

  it('refuses to run twice at the same time', async () => {
    const refused = Promise.withResolvers<void>();
    const first = rebuild({
      async read(listed) {
        await refused.promise;
        return scene.source.read(listed);
      },
    });
    await until(async () => (await schemas()).includes('mirror_next'));
    await expect(rebuild()).rejects.toThrow('rebuilt already');
    refused.resolve();
    expect(await first).toEqual({ differing: [] });
  });

  it('refuses the ledger of another mirror', async () => {
    const genesisHash = async () => 'another';
    await expect(rebuild({ genesisHash })).rejects.toThrow('the database of program');
  });

  it('leaves pending announcements to the indexer', async () => {
    await indexer?.terminate();
    indexer = undefined;
    const before = await countTransactions();
    await work();
    expect(await rebuild()).toEqual({ differing: [] });
    expect(await countTransactions()).toBe(before);
    indexer = await startIndexerInProcess(scene.ledger, mirror.databaseUrl);
    await untilMirrored();
    expect(await digestTables(mirror.pool)).toEqual(await digestOfAnother());
  });
});

describe('svc indexer', () => {
  const svc = (words: string[], settings: Record<string, string> = {}) =>
    runCli(['indexer', ...words], {
      env: {
        DATABASE_URL: mirror.databaseUrl,
        SOLANA_RPC_URL: scene.ledger.rpcUrl,
        ...settings,
      },
    });

  it('rebuilds and prints how the old mirror compares', async () => {
    expect(await svc(['rebuild'])).toMatchObject({
      code: 0,
      output: expect.stringMatching(
        /^The mirror was rebuilt from \d+ events\. It is equal to the old one\.\n$/,
      ),
    });
  });

  it('reconciles with exit code 0 when all agrees, else 1 and each difference', async () => {
    expect(await svc(['reconcile'])).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^Journal, tables, \d+ accounts and the vaults/),
    });
    await mirror.pool.query('update credit_accounts set owed_credits = 5');
    const failed = await svc(['reconcile', '--json']);
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.output)).toMatchObject({
      isClean: false,
      differences: [
        { against: 'ledger', column: 'owed_credits', mirror: '5', expected: '0' },
        { against: 'journal', column: 'owed_credits', mirror: '5', expected: '0' },
      ],
    });
    await mirror.pool.query('update credit_accounts set owed_credits = 0');
  });

  it.each(['rebuild', 'reconcile'])(
    'reports that the mirror is of another program and refuses to %s',
    async (verb) => {
      const other = SystemProgram.programId.toBase58();
      const refused = await svc([verb], { SVC_PROGRAM_ID: other });
      expect(refused).toMatchObject({ code: 1, output: '' });
      expect(refused.error).toMatch(
        new RegExp(
          `^DATABASE_URL names the database of program .+ name program ${other} .+[^.]\\.\n$`,
        ),
      );
    },
  );

  it('reconciles with exit code 2 and the lag when the mirror is behind', async () => {
    await indexer?.terminate();
    indexer = undefined;
    await work();
    const behind = await svc(['reconcile']);
    expect(behind.code).toBe(2);
    expect(behind.output).toMatch(
      /^The mirror is behind the ledger by [1-9]\d* slots: does the indexer run\? Accounts .+: [1-9]\d*\.\nJournal, tables, all other accounts and the vaults agree at slot \d+\.\n$/,
    );
    await mirror.pool.query('update credit_accounts set owed_credits = 5');
    const wrong = await svc(['reconcile', '--json']);
    expect(wrong.code).toBe(1);
    const { isClean, differences, behind: how } = JSON.parse(wrong.output);
    expect(isClean).toBe(false);
    expect(differences).toMatchObject([{ against: 'journal', column: 'owed_credits' }]);
    expect(how).toEqual({ slots: expect.any(Number), accounts: expect.any(Number) });
  });
});
