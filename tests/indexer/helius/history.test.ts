import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { Registry } from 'prom-client';
import { createLogger } from '../../../common/logger.ts';
import { storeFinal } from '../../../indexer/mirror/finalize.ts';
import type { MirrorContext } from '../../../indexer/mirror/progress.ts';
import { applyMissing, fillGaps } from '../../../indexer/mirror/sweep.ts';
import { createHistorySource } from '../../../indexer/source/heliusHistory.ts';
import { connectNode } from '../../../indexer/source/node.ts';

import { clearMirror, digestTables } from '../../../indexer/sql/digest.ts';
import { PROGRAM_ID } from '../../../programs/client/index.ts';
import {
  createMirrorDatabase,
  type MirrorDatabase,
} from '../../../testing/indexer/mirrorDatabase.ts';
import { addresses, createScene, type Scene } from '../../../testing/indexer/scene.ts';
import { liveThrough } from '../life.ts';
import { type FakeHelius, RefusedError, type Row, startFakeHelius } from './fakeHelius.ts';

let scene: Scene;
let mirror: MirrorDatabase;
let client: pg.PoolClient;
let helius: FakeHelius;
let registry: Registry;
let source: ReturnType<typeof createHistorySource>;
let context: MirrorContext;
let digest: Record<string, string>;
let slotMax: bigint;
/** Questions for the ledger's own list. */
let lists = 0;

beforeAll(async () => {
  scene = await createScene();
  await liveThrough(scene);
  // Far enough that all is final: the local ledger's slots go back a little at some jumps.
  await scene.wait(30 * 86_400);
  slotMax = await scene.source.slot('finalized');
  mirror = await createMirrorDatabase();
  client = await mirror.pool.connect();
  await mirror.apply(await scene.read());
  digest = await digestTables(client);
});

afterAll(async () => {
  client?.release();
  await mirror?.close();
  await scene?.ledger.close();
});

beforeEach(async () => {
  await clearMirror(mirror.pool);
  helius = await startFakeHelius({ ledgerUrl: scene.ledger.rpcUrl });
  registry = new Registry();
  lists = 0;
  source = createHistorySource({
    source: {
      ...scene.source,
      list(query) {
        lists += 1;
        return scene.source.list(query);
      },
    },
    node: connectNode({ url: helius.origin }),
    programId: PROGRAM_ID.toBase58(),
    logger: createLogger({ name: 'test', level: 'silent' }),
    registry,
  });
  context = {
    ...{ database: client, source, addresses, commitment: 'confirmed', outbox: null },
    onFolded: () => {},
    signal: new AbortController().signal,
  };
});

afterEach(() => helius.close());

async function sync(): Promise<void> {
  await clearMirror(mirror.pool);
  await storeFinal(context, slotMax);
}

/** The tables are as they must be, and Helius's part in that ended as expected. */
async function expectSynced(result: 'listed' | 'failed'): Promise<void> {
  expect(await digestTables(client)).toEqual(digest);
  expect(await registry.metrics()).toContain(`svc_helius_histories_total{result="${result}"} 1`);
}

describe('a Helius history, which lists the oldest transactions first', () => {
  it('yields the same tables page after page', async () => {
    await sync();
    await expectSynced('listed');
    expect(helius.pagesAsked).toBeGreaterThan(5);
  });

  it('returns its oldest page before it requests another', async () => {
    const [oldest] = await scene.read();
    const { value } = await source.listFinal({ slot: 0n, slotMax }).next();
    expect(value?.[0]?.signature).toBe(oldest?.signature);
    // To see that nothing is older.
    expect([helius.pagesAsked, lists]).toEqual([1, 1]);
  });

  it('may list a transaction twice, in one page or in two', async () => {
    let previous: Row[] = [];
    helius.alterPage = (rows) => {
      const altered = [...previous, ...rows.flatMap((row) => [row, row])];
      previous = rows;
      return altered;
    };
    await sync();
    await expectSynced('listed');
  });

  it('may end before the ledger does', async () => {
    helius.show = (rows) => rows.slice(0, rows.length / 2);
    await sync();
    await expectSynced('listed');
  });

  it('may omit a transaction, which the gap search then finds', async () => {
    helius.show = (rows) => rows.filter((_row, index) => index !== 20);
    await sync();
    expect(await digestTables(client)).not.toEqual(digest);
    await fillGaps(context);
    await expectSynced('listed');
  });

  it('is not requested for a range that the ledger lists in one page', async () => {
    for await (const page of source.listFinal({ slot: slotMax - 2_999n, slotMax })) {
      await applyMissing(context, page);
    }
    expect(helius.pagesAsked).toBe(0);
    expect(lists).toBeGreaterThan(0);
  });
});

describe('the sync falls back to the ordinary list', () => {
  it('when a history page fails, and requests the history again next time', async () => {
    helius.alterPage = (rows, page) => {
      if (page === 2) throw new Error('overloaded');
      return rows;
    };
    await sync();
    await expectSynced('failed');
    expect(helius.pagesAsked).toBe(3);
    await sync();
    expect(helius.pagesAsked).toBeGreaterThan(5);
  });

  it('when the node does not support the method, and never requests it again', async () => {
    helius.alterPage = () => {
      throw new RefusedError('Method not found');
    };
    await sync();
    await expectSynced('failed');
    await sync();
    expect(helius.pagesAsked).toBe(1);
  });

  it('when the history begins later than the ledger', async () => {
    helius.show = (rows) => rows.slice(rows.length / 2);
    await sync();
    await expectSynced('failed');
  });

  it('when the history is out of order', async () => {
    helius.show = (rows) => [...rows.slice(0, 12), ...rows.slice(12).reverse()];
    await sync();
    await expectSynced('failed');
  });

  it('when every history page is the same', async () => {
    let first: Row[] = [];
    helius.alterPage = (rows, page) => {
      if (page === 0) first = rows;
      return first;
    };
    await sync();
    await expectSynced('failed');
    expect(helius.pagesAsked).toBe(2);
  });

  it('when the history is empty', async () => {
    helius.show = () => [];
    await sync();
    await expectSynced('listed');
  });
});
