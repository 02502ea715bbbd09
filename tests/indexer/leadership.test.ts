import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StartedProcess } from '../../testing/childProcess.ts';
import { type DatabaseGate, startDatabaseGate } from '../../testing/database/databaseGate.ts';
import { startIndexer } from '../../testing/indexer/indexerProcess.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { createScene, type Scene } from '../../testing/indexer/scene.ts';
import { until } from '../../testing/until.ts';

let scene: Scene;
let mirror: MirrorDatabase;
/** Of the second indexer, in which it counts attempts to lead. */
let gate: DatabaseGate;
let attempts = 0;
const processes: StartedProcess[] = [];

beforeAll(async () => {
  scene = await createScene();
  mirror = await createMirrorDatabase();
  gate = await startDatabaseGate(mirror.databaseUrl, (sent) => {
    if (sent.includes('pg_try_advisory_lock')) attempts += 1;
  });
});

afterAll(async () => {
  for (const started of processes) await started.kill();
  await gate?.close();
  await mirror?.close();
  await scene?.ledger.close();
});

async function start({ databaseUrl } = mirror): Promise<StartedProcess> {
  const started = await startIndexer(scene.ledger, databaseUrl);
  processes.push(started);
  return started;
}

async function roleOf({ url }: StartedProcess): Promise<string> {
  const response = await fetch(new URL('/health', url));
  return ((await response.json()) as { role: string }).role;
}

async function isLockHeld(): Promise<boolean> {
  const { rowCount } = await mirror.pool.query(
    `select from pg_locks join pg_database on database = pg_database.oid
     where locktype = 'advisory' and datname = current_database()`,
  );
  return rowCount === 1;
}

async function countJobs(): Promise<bigint> {
  const { rows } = await mirror.pool.query<{ count: bigint }>('select count(*) from mirror.jobs');
  return rows[0]?.count ?? 0n;
}

describe('of several indexers', () => {
  it('one leads, and another takes over within seconds when it dies', async () => {
    const first = await start();
    await until(async () => (await roleOf(first)) === 'leader');
    const second = await start({ ...mirror, ...gate });
    await until(async () => (await roleOf(second)) === 'standby');
    await scene.lock();
    await until(async () => (await countJobs()) === 1n);
    expect(await roleOf(second)).toBe('standby');

    await first.kill();
    await until(async () => (await roleOf(second)) === 'leader' || !(await isLockHeld()));
    const before = attempts;
    await scene.lock();
    await until(async () => (await countJobs()) === 2n);
    // It tries once a second, and once more suffices when the lock is free.
    expect(attempts - before).toBeLessThanOrEqual(1);
    expect(await roleOf(second)).toBe('leader');
  });

  it('the one that is terminated exits at once and without an error', async () => {
    const third = await start();
    await until(async () => (await roleOf(third)) === 'standby');
    expect(await third.terminate()).toBe(0);
  });
});
