import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StartedProcess } from '../../testing/childProcess.ts';
import { startIndexer } from '../../testing/indexer/indexerProcess.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { createScene, type Scene } from '../../testing/indexer/scene.ts';
import { until } from '../../testing/until.ts';

let scene: Scene;
let mirror: MirrorDatabase;
const processes: StartedProcess[] = [];

beforeAll(async () => {
  scene = await createScene();
  mirror = await createMirrorDatabase();
});

afterAll(async () => {
  for (const started of processes) await started.kill();
  await mirror?.close();
  await scene?.ledger.close();
});

async function start(): Promise<StartedProcess> {
  const started = await startIndexer(scene.ledger, mirror.databaseUrl);
  processes.push(started);
  return started;
}

async function roleOf({ url }: StartedProcess): Promise<string> {
  const response = await fetch(new URL('/health', url));
  return ((await response.json()) as { role: string }).role;
}

async function countJobs(): Promise<bigint> {
  const { rows } = await mirror.pool.query<{ count: bigint }>('select count(*) from mirror.jobs');
  return rows[0]?.count ?? 0n;
}

describe('of several indexers', () => {
  it('one leads, and another takes over within seconds when it dies', async () => {
    const first = await start();
    await until(async () => (await roleOf(first)) === 'leader');
    const second = await start();
    await until(async () => (await roleOf(second)) === 'standby');
    await scene.lock();
    await until(async () => (await countJobs()) === 1n);
    expect(await roleOf(second)).toBe('standby');

    await first.kill();
    await scene.lock();
    const killedAtMs = performance.now();
    await until(async () => (await countJobs()) === 2n);
    expect(performance.now() - killedAtMs).toBeLessThan(30_000);
    expect(await roleOf(second)).toBe('leader');
  });

  it('the one that is terminated exits at once and without an error', async () => {
    const third = await start();
    await until(async () => (await roleOf(third)) === 'standby');
    expect(await third.terminate()).toBe(0);
  });
});
