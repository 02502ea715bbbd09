import { createLogger } from '../../../common/logger.ts';
import { createIndexer, type Indexer } from '../../../indexer/indexer.ts';
import { createProgress } from '../../../indexer/mirror/progress.ts';
import type { FatalError } from '../../../indexer/source/errors.ts';
import type { LedgerSource } from '../../../indexer/source/source.ts';
import { createMetrics } from '../../../indexer/telemetry/metrics.ts';
import type { OutboxSettings } from '../../../indexer/webhooks/announce/webhookOutbox.ts';
import { addresses } from '../../../testing/indexer/scene.ts';
import type { Fate, UnreliablePool } from './unreliablePool.ts';

/** The indexers that run at a time. */
export interface Indexers {
  readonly count: number;
  start(): void;
  /** As a process that gets SIGTERM. */
  stop(position: number): void;
  /** As a process that is killed. */
  kill(position: number): Promise<void>;
  /** Ends every connection of every one, as a restart of the database does. */
  disconnect(): Promise<void>;
  /** Resolves when every notification that was given before has arrived. */
  receiveNotifications(): Promise<void>;
  /** Resolves when none runs any more, also of those that were ended before. */
  stopAll(): Promise<void>;
}

interface Running {
  readonly indexer: Indexer;
  readonly connections: UnreliablePool;
  readonly fate: Fate;
}

/** Nothing listens there: hints come by way of the database. */
const NO_STREAM = 'ws://127.0.0.1:9';

/**
 * @param options.connect a new process to the database
 * @param options.observe the ledger, through a node
 */
export function createIndexers(options: {
  connect: (name: string, fate: Fate) => UnreliablePool;
  observe: (name: string) => LedgerSource;
  outboxSettings: OutboxSettings;
  nowMs: () => number;
  onFatal: (error: FatalError) => void;
}): Indexers {
  const { connect, observe, outboxSettings, nowMs, onFatal } = options;
  const running: Running[] = [];
  const ending: Promise<void>[] = [];
  let started = 0;

  function start(): void {
    started += 1;
    const name = `simulated indexer ${started}`;
    let isDead = false;
    const fate: Fate = {
      isDead: () => isDead,
      die() {
        isDead = true;
        end(self);
      },
    };
    const connections = connect(name, fate);
    const { pool } = connections;
    const progress = createProgress(nowMs);
    const indexer = createIndexer({
      ...{ pool, outboxSettings, progress, onFatal },
      source: mortal(observe(name), fate),
      ...{ wsUrl: NO_STREAM, keepers: [], programId: addresses.programId },
      commitment: 'confirmed',
      reconcileWatch: { run: async () => {}, breaches: () => 0 },
      lagMax: { slots: 150, ms: 60_000 },
      logger: createLogger({ name, level: 'silent' }),
      metrics: createMetrics(progress),
    });
    const self = { indexer, connections, fate };
    running.push(self);
    indexer.start();
  }

  /** At once or, when it was ended before, no more. */
  function end(member: Running): void {
    const position = running.indexOf(member);
    if (position < 0) return;
    running.splice(position, 1);
    ending.push(member.indexer.stop().then(() => member.connections.pool.end()));
  }

  function at(position: number): Running {
    const member = running[position];
    if (!member) throw new RangeError(`There is no indexer ${position}`);
    return member;
  }

  return {
    get count() {
      return running.length;
    },
    start,
    stop: (position) => end(at(position)),
    async kill(position) {
      const { fate, connections } = at(position);
      fate.die();
      await connections.endConnections();
    },
    async disconnect() {
      await Promise.all(running.map(({ connections }) => connections.endConnections()));
    },
    async receiveNotifications() {
      await Promise.all(running.map(({ connections }) => connections.receiveNotifications()));
    },
    async stopAll() {
      for (const member of [...running]) end(member);
      await Promise.all(ending);
    },
  };
}

/** A dead process hears no answers. */
function mortal(source: LedgerSource, fate: Fate): LedgerSource {
  async function heard<Result>(answer: Promise<Result>): Promise<Result> {
    const result = await answer;
    if (fate.isDead()) throw new Error('This process is dead');
    return result;
  }
  return {
    list: (query) => heard(source.list(query)),
    read: (listed) => heard(source.read(listed)),
    slot: (commitment) => heard(source.slot(commitment)),
    genesisHash: () => heard(source.genesisHash()),
    locate: (...parameters) => heard(source.locate(...parameters)),
  };
}
