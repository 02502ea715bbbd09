import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLogger } from '../../common/logger.ts';
import { createIndexer, type Indexer } from '../../indexer/indexer.ts';
import type { Keeper } from '../../indexer/keeper/keeper.ts';
import { createProgress } from '../../indexer/mirror/progress.ts';
import { type FatalError, RetryableError } from '../../indexer/source/errors.ts';
import type { LedgerSource } from '../../indexer/source/source.ts';
import { clearMirror } from '../../indexer/sql/digest.ts';
import { createMetrics } from '../../indexer/telemetry/metrics.ts';
import { TIME_LIMITS } from '../../indexer/timeLimits.ts';
import { execute } from '../../testing/database/database.ts';
import { ownMirror } from '../../testing/indexer/own.ts';
import { addresses } from '../../testing/indexer/scene.ts';
import { createSyntheticSource } from '../../testing/indexer/syntheticSource.ts';
import { until } from '../../testing/until.ts';

const TRANSACTIONS = 300;

const mirror = await ownMirror();
let started: Indexer[];
/** Lets a node answer that a test holds back. */
let synced: PromiseWithResolvers<void>;
/** What the node does first when it is asked anything. */
let node: () => Promise<void>;
/** How often an indexer has begun to bind the mirror to the ledger. */
let bindings: number;
/** How often a keeper has begun to work. */
let keepersBegun: number;

const keeper: Keeper = {
  async run(signal) {
    keepersBegun += 1;
    if (!signal.aborted) await once(signal, 'abort');
  },
};

const history = createSyntheticSource(TRANSACTIONS);
const source: LedgerSource = {
  list: (query) => node().then(() => history.list(query)),
  read: (listed) => node().then(() => history.read(listed)),
  slot: (commitment) => node().then(() => history.slot(commitment)),
  genesisHash() {
    bindings += 1;
    return node().then(() => history.genesisHash());
  },
  locate: (...parameters) => node().then(() => history.locate(...parameters)),
};

const works = async () => {};
const fails = async () => {
  throw new RetryableError('the node is away');
};

beforeEach(async () => {
  await clearMirror(mirror.pool);
  started = [];
  synced = Promise.withResolvers();
  node = works;
  bindings = 0;
  keepersBegun = 0;
});

afterEach(async () => {
  synced.resolve();
  await Promise.all(started.map((indexer) => indexer.stop()));
});

interface Started {
  readonly indexer: Indexer;
  /** What made it give up. */
  readonly fatal: FatalError[];
}

/** An indexer in the test's own process. */
function start(): Started {
  const fatal: FatalError[] = [];
  const progress = createProgress(() => performance.now());
  const metrics = createMetrics(progress);
  const indexer = createIndexer({
    ...{ pool: mirror.pool, source, keepers: [keeper], progress, metrics },
    // Nothing listens there: each sweep comes by itself.
    ...{ wsUrl: 'ws://127.0.0.1:9', programId: addresses.programId, commitment: 'confirmed' },
    reconcileWatch: { run: async () => {}, breaches: () => 0 },
    lagMax: { slots: 150, ms: 30_000 },
    outboxSettings: { awaitsFinality: false },
    limits: { ...TIME_LIMITS, leadAttemptMs: 20 },
    logger: createLogger({ name: 'test', level: 'silent' }),
    onFatal: (error) => void fatal.push(error),
  });
  started.push(indexer);
  indexer.start();
  return { indexer, fatal };
}

const isComplete = async ({ indexer }: Started) => indexer.health().lag !== null;
describe('the keepers', () => {
  it('start only when the mirror is complete', async () => {
    let questions = 0;
    node = async () => {
      questions += 1;
      if (questions > TRANSACTIONS / 2) await synced.promise;
    };
    const leader = start();
    await until(async () => questions > TRANSACTIONS / 2);
    expect(keepersBegun).toBe(0);
    expect(await isComplete(leader)).toBe(false);
    synced.resolve();
    await until(async () => keepersBegun === 1);
    expect(await isComplete(leader)).toBe(true);
  });

  it('pause again after an outage until the mirror has caught up', async () => {
    const leader = start();
    await until(async () => keepersBegun === 1);
    node = fails;
    await until(async () => !(await isComplete(leader)));
    node = () => synced.promise;
    await until(async () => leader.indexer.health().role === 'leader');
    expect(keepersBegun).toBe(1);
    synced.resolve();
    await until(async () => keepersBegun === 2);
  });
});

describe('a database that is read-only for a while', () => {
  it('does not stop the indexer, which resumes when writes succeed again', async () => {
    const leader = start();
    await until(() => isComplete(leader));
    await restart('on');
    // The next thing that it does is to write which ledger that is.
    const before = bindings;
    await until(async () => leader.fatal.length > 0 || bindings > before + 1);
    expect(leader.fatal).toEqual([]);
    await restart('off');
    await until(() => isComplete(leader));
  });

  async function restart(onlyReads: 'on' | 'off'): Promise<void> {
    const name = new URL(mirror.databaseUrl).pathname.slice(1);
    await execute(
      mirror.databaseUrl,
      `begin read write;
       alter database ${name} set default_transaction_read_only = ${onlyReads};
       commit;
       select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
    );
  }
});
