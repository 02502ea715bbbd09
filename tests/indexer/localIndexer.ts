import type pg from 'pg';
import { createLogger } from '../../common/logger.ts';
import { createIndexer, type Indexer } from '../../indexer/indexer.ts';
import type { Keeper } from '../../indexer/keeper/keeper.ts';
import { createProgress } from '../../indexer/mirror/progress.ts';
import type { FatalError } from '../../indexer/source/errors.ts';
import type { LedgerSource } from '../../indexer/source/source.ts';
import { createMetrics } from '../../indexer/telemetry/metrics.ts';
import { TIME_LIMITS } from '../../indexer/timeLimits.ts';
import { addresses } from '../../testing/indexer/scene.ts';

/** An indexer in the test's own process, by a clock that the test moves. */
export interface LocalIndexer {
  readonly indexer: Indexer;
  /** What made it give up. */
  readonly fatal: FatalError[];
  /** What it has logged. */
  readonly log: { msg: string; backoff_ms?: number }[];
  /** @param line the metric's name, with its labels @returns undefined where it is absent */
  metric(line: string): Promise<number | undefined>;
}

/** Nothing listens there: each sweep comes by itself. */
const NO_STREAM = 'ws://127.0.0.1:9';
export function createLocalIndexer(options: {
  pool: pg.Pool;
  source: LedgerSource;
  keepers?: readonly Keeper[];
  nowMs?: () => number;
}): LocalIndexer {
  const { pool, source, keepers = [], nowMs = () => performance.now() } = options;
  const fatal: FatalError[] = [];
  const log: LocalIndexer['log'] = [];
  const progress = createProgress(nowMs);
  const metrics = createMetrics(progress);
  const indexer = createIndexer({
    ...{ pool, source, keepers, progress, metrics },
    ...{ wsUrl: NO_STREAM, programId: addresses.programId },
    commitment: 'confirmed',
    reconcileWatch: { run: async () => {}, breaches: () => 0 },
    lagMax: { slots: 150, ms: 30_000 },
    outboxSettings: { awaitsFinality: false },
    limits: { ...TIME_LIMITS, leadAttemptMs: 20 },
    logger: createLogger({
      ...{ name: 'test', level: 'info' },
      into: { write: (line) => void log.push(JSON.parse(line)) },
    }),
    onFatal: (error) => void fatal.push(error),
  });
  return {
    indexer,
    fatal,
    log,
    async metric(line) {
      const lines = (await metrics.registry.metrics()).split('\n');
      const found = lines.find((text) => text.startsWith(`${line} `));
      return found === undefined ? undefined : Number(found.slice(line.length + 1));
    },
  };
}
