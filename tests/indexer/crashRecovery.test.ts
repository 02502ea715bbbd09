import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { delay } from '../../common/wait.ts';
import { reconcile } from '../../indexer/reconcile/reconcile.ts';
import { digestTables } from '../../indexer/sql/digest.ts';
import type { StartedProcess } from '../../testing/childProcess.ts';
import { startIndexer } from '../../testing/indexer/indexerProcess.ts';
import { createMirrorDatabase, type MirrorDatabase } from '../../testing/indexer/mirrorDatabase.ts';
import { addresses, createScene, type Scene } from '../../testing/indexer/scene.ts';
import { stopClock } from '../../testing/ledger/ledger.ts';
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
  // Or the keeper would refund jobs in between, on a machine that needs two minutes for all this.
  await stopClock(scene.ledger.connection);
  mirror = await createMirrorDatabase();
});

afterAll(async () => {
  await mirror?.close();
  await scene?.ledger.close();
});

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
    const transactions = await scene.read();
    await until(async () => {
      const { rows } = await mirror.pool.query('select count(*)::int from mirror.transactions');
      return rows[0]?.count >= transactions.length;
    });
    await indexer.terminate();
    const { rowCount } = await mirror.pool.query('select from mirror.transactions');
    expect(rowCount).toBe(transactions.length);

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
