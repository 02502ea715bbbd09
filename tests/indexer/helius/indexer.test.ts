import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { digestTables } from '../../../indexer/sql/digest.ts';
import { PROGRAM_ID } from '../../../programs/client/index.ts';
import { findFreePort } from '../../../stack/port.ts';
import type { StartedProcess } from '../../../testing/childProcess.ts';
import { startIndexer } from '../../../testing/indexer/indexerProcess.ts';
import {
  createMirrorDatabase,
  type MirrorDatabase,
} from '../../../testing/indexer/mirrorDatabase.ts';
import { createScene, type Scene } from '../../../testing/indexer/scene.ts';
import { createRandom } from '../../../testing/random.ts';
import { until } from '../../../testing/until.ts';
import { API_KEY, type FakeHelius, startFakeHelius } from './fakeHelius.ts';

const SECRET = 'a-secret-that-only-Helius-and-we-know';
const random = createRandom();

let scene: Scene;
let mirror: MirrorDatabase;
let helius: FakeHelius;
let leader: Endpoint;
let listener: pg.PoolClient;
let heard = 0;

interface Endpoint {
  indexer: StartedProcess;
  url: string;
}

beforeAll(async () => {
  scene = await createScene();
  await scene.wait(3_600);
  mirror = await createMirrorDatabase();
  helius = await startFakeHelius({ ledgerUrl: scene.ledger.rpcUrl });
  leader = await start();
  listener = await mirror.pool.connect();
  listener.on('notification', () => {
    heard += 1;
  });
  await listener.query('listen helius_hint');
});

afterAll(async () => {
  await leader?.indexer.terminate();
  listener?.release();
  await mirror?.close();
  helius?.close();
  await scene?.ledger.close();
});

async function start(): Promise<Endpoint> {
  const port = await findFreePort();
  const indexer = await startIndexer(
    { ...scene.ledger, rpcUrl: helius.origin },
    mirror.databaseUrl,
    {
      HELIUS_API_KEY: API_KEY,
      HELIUS_WEBHOOK_URL: 'https://indexer.example/helius',
      HELIUS_WEBHOOK_SECRET: SECRET,
      HELIUS_WEBHOOK_PORT: String(port),
      NODE_OPTIONS: `--import=${new URL('./preload.ts', import.meta.url)}`,
      TEST_HELIUS_ORIGIN: helius.origin,
    },
  );
  return { indexer, url: `http://127.0.0.1:${port}/` };
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

async function post({ url }: Endpoint, body = '[]', authorization = SECRET): Promise<number> {
  const { status } = await fetch(url, { method: 'POST', headers: { authorization }, body });
  return status;
}

async function readStored(): Promise<Set<string>> {
  const { rows } = await mirror.pool.query<{ signature: string }>(
    'select signature from mirror.transactions',
  );
  return new Set(rows.map(({ signature }) => signature));
}

async function expectHeard(endpoint: Endpoint): Promise<void> {
  const before = heard;
  expect(await post(endpoint)).toBe(200);
  await until(async () => heard > before);
}

describe(`the indexer with Helius (seed ${random.seed})`, () => {
  it('makes the webhook when it begins to keep the mirror', async () => {
    await until(async () => helius.webhooks.length > 0);
    expect(helius.webhooks).toEqual([
      expect.objectContaining({
        webhookURL: 'https://indexer.example/helius',
        webhookType: 'raw',
        authHeader: SECRET,
        accountAddresses: [PROGRAM_ID.toBase58()],
      }),
    ]);
  });

  it('begins with the history of Helius, and goes on with the ordinary list', async () => {
    await until(async () => helius.pagesAsked > 0);
    const onLedger = await scene.read();
    await until(async () => (await readStored()).size === onLedger.length);
    expect(helius.pagesAsked).toBe(Math.ceil(onLedger.length / 5));
  });

  it('sweeps at every hint', async () => {
    const before = helius.listsPassed;
    const startMs = performance.now();
    // Sweeping every half second alone, it would take longer: a sweep lists twice.
    while (helius.listsPassed < before + 80) await post(leader);
    expect(performance.now() - startMs).toBeLessThan(13_000);
  });

  it('hears of hints that reach a process which stands by', async () => {
    const standby = await start();
    await expectHeard(leader);
    await expectHeard(standby);
    await standby.indexer.terminate();
    expect(helius.webhooks.length).toBe(1);
  });

  it('makes the same tables, whatever is posted', async () => {
    let isLiving = true;
    const living = work().finally(() => {
      isLiving = false;
    });
    while (isLiving) {
      const forged = JSON.stringify([{ slot: random.below(1e9), signature: 'forged', meta: null }]);
      const body = ['', '[', forged, forged, Buffer.from(random.bytes(99)).toString('latin1')];
      expect(await post(leader, body[random.below(body.length)])).toBe(200);
      expect(await post(leader, forged, 'another secret')).toBe(401);
    }
    await living;
    const lived = await scene.read();
    await until(async () => {
      const stored = await readStored();
      return lived.every(({ signature }) => stored.has(signature));
    });
    // Its keeper closes jobs as long as it runs.
    await leader.indexer.terminate();
    const stored = await readStored();
    const straight = await createMirrorDatabase();
    await straight.apply((await scene.read()).filter(({ signature }) => stored.has(signature)));
    expect(await digestTables(mirror.pool)).toEqual(await digestTables(straight.pool));
    await straight.close();
  });
});
