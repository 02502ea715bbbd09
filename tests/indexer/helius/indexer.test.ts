import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { digestTables } from '../../../indexer/sql/digest.ts';
import type { StartedProcess } from '../../../testing/childProcess.ts';
import { startIndexer } from '../../../testing/indexer/indexerProcess.ts';
import {
  createMirrorDatabase,
  type MirrorDatabase,
} from '../../../testing/indexer/mirrorDatabase.ts';
import { createScene, type Scene } from '../../../testing/indexer/scene.ts';
import { until } from '../../../testing/until.ts';
import { API_KEY, type FakeHelius, startFakeHelius } from './fakeHelius.ts';

let scene: Scene;
let mirror: MirrorDatabase;
let helius: FakeHelius;
let leader: StartedProcess;

beforeAll(async () => {
  scene = await createScene();
  await scene.wait(3_600);
  mirror = await createMirrorDatabase();
  helius = await startFakeHelius({ ledgerUrl: scene.ledger.rpcUrl });
  leader = await start();
});

afterAll(async () => {
  await leader?.terminate();
  await mirror?.close();
  helius?.close();
  await scene?.ledger.close();
});

function start(): Promise<StartedProcess> {
  return startIndexer({ ...scene.ledger, rpcUrl: helius.origin }, mirror.databaseUrl, {
    HELIUS_API_KEY: API_KEY,
    NODE_OPTIONS: `--import=${new URL('./preload.ts', import.meta.url)}`,
    TEST_HELIUS_ORIGIN: helius.origin,
  });
}

/** A few jobs, each at another point of its life. */
async function work(): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    const [settled, failed] = await scene.lock(3);
    if (!settled || !failed) throw new Error('three jobs were locked');
    await scene.acknowledge(settled);
    await scene.settle(settled);
    await scene.fail(failed);
  }
}

async function readStored(): Promise<Set<string>> {
  const { rows } = await mirror.pool.query<{ signature: string }>(
    'select signature from mirror.transactions',
  );
  return new Set(rows.map(({ signature }) => signature));
}

describe('an indexer with Helius', () => {
  it('reads the Helius history first, then the ordinary list', async () => {
    await until(async () => helius.pagesAsked > 0);
    const onLedger = await scene.read();
    await until(async () => (await readStored()).size === onLedger.length);
    expect(helius.pagesAsked).toBe(Math.ceil(onLedger.length / 5));
  });

  it('builds the same tables as from the ordinary list', async () => {
    await work();
    const lived = await scene.read();
    await until(async () => {
      const stored = await readStored();
      return lived.every(({ signature }) => stored.has(signature));
    });
    // Its keeper closes jobs as long as it runs.
    await leader.terminate();
    const stored = await readStored();
    const straight = await createMirrorDatabase();
    await straight.apply((await scene.read()).filter(({ signature }) => stored.has(signature)));
    expect(await digestTables(mirror.pool)).toEqual(await digestTables(straight.pool));
    await straight.close();
  });
});
