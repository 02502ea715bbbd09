import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { delay } from '../../common/wait.ts';
import { reconcile } from '../../indexer/reconcile/reconcile.ts';
import { digestTables } from '../../indexer/sql/digest.ts';
import type { StartedProcess } from '../../testing/childProcess.ts';
import { startIndexer } from '../../testing/indexer/indexerProcess.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { addresses, createScene, type Scene } from '../../testing/indexer/scene.ts';
import { createRandom } from '../../testing/random.ts';
import { until } from '../../testing/until.ts';

const random = createRandom();
const KILLS = 6;
/** A process that has just started works off what it missed for about this long. */
const KILL_WITHIN_MS = 150;

let scene: Scene;
let mirror: MirrorDatabase;

beforeAll(async () => {
  scene = await createScene();
  mirror = await createMirrorDatabase();
});

afterAll(async () => {
  await mirror?.close();
  await scene?.ledger.close();
});

async function readStored(): Promise<Set<string>> {
  const { rows } = await mirror.pool.query<{ signature: string }>(
    'select signature from mirror.transactions',
  );
  return new Set(rows.map(({ signature }) => signature));
}

/** A few jobs, each at another point of its life. */
async function work(): Promise<void> {
  const [settled, failed, acknowledged] = await scene.lock(4);
  if (!settled || !failed || !acknowledged) throw new Error('four jobs were locked');
  await scene.acknowledge(settled);
  await scene.settle(settled);
  await scene.acknowledge(acknowledged);
  await scene.fail(failed);
}

describe(`an indexer that is killed again and again (seed ${random.seed})`, () => {
  it('loses nothing and repeats nothing', async () => {
    let indexer: StartedProcess | undefined;
    for (let kill = 0; kill < KILLS; kill += 1) {
      await work();
      indexer = await startIndexer(scene.ledger, mirror.databaseUrl);
      const working = work();
      await delay(random.below(KILL_WITHIN_MS));
      await indexer.kill();
      await working;
    }
    indexer = await startIndexer(scene.ledger, mirror.databaseUrl);
    const lived = await scene.read();
    await until(async () => {
      const stored = await readStored();
      return lived.every(({ signature }) => stored.has(signature));
    });
    await indexer.terminate();

    // Its keeper refunds jobs when their time is over, until the end.
    const stored = await readStored();
    const transactions = (await scene.read()).filter(({ signature }) => stored.has(signature));
    expect(transactions).toHaveLength(stored.size);
    const journal = await mirror.pool.query<{ signature: string }>(
      'select signature from mirror.journal order by signature',
    );
    const emitted = transactions.flatMap(({ events }) => events.map(({ signature }) => signature));
    expect(journal.rows.map(({ signature }) => signature)).toEqual(emitted.sort());
    const { connection } = scene.ledger;
    const result = await reconcile({ database: mirror.pool, connection, addresses });
    expect(result.differences).toEqual([]);
    const straight = await createMirrorDatabase();
    await straight.apply(transactions);
    expect(await digestTables(mirror.pool)).toEqual(await digestTables(straight.pool));
    await straight.close();
  });
});
