import type { PublicKey } from '@solana/web3.js';
import type pg from 'pg';
import { createAddresses } from '../programs/client/addresses.ts';
import type { Logger } from '../runtime/logger.ts';
import { delay } from '../runtime/wait.ts';
import { classify, FatalError } from './errors.ts';
import type { Keeper } from './keeper/keeper.ts';
import { lead } from './leadership.ts';
import type { IndexerMetrics } from './metrics.ts';
import { keepMirror } from './mirror/keepMirror.ts';
import { createLogHints } from './source/logHints.ts';
import { createRpc } from './source/rpc.ts';
import { type Commitment, createLedgerSource } from './source/source.ts';
import { createWakeUp } from './source/wakeUp.ts';

/** What `/health` and `/ready` tell. */
export interface IndexerHealth {
  /** A standby waits for the leader's connection to end, and takes over. */
  role: 'starting' | 'leader' | 'standby';
  /** The mirror has held everything that the ledger listed, within the last minute. */
  caughtUp: boolean;
}

/** Keeps the mirror, and does the keepers' duties, while it is the only one to do so. */
export interface Indexer {
  start(): void;
  /** Resolves when nothing runs any more. */
  stop(): Promise<void>;
  health(): IndexerHealth;
}

const BACKOFF_MS_MIN = 100;
const BACKOFF_MS_MAX = 5_000;
const CAUGHT_UP_MS_MAX = 60_000;

/**
 * @param options.pool the migrated database; one connection is held for good
 * @param options.keepers what runs beside the mirror while this process leads
 * @param options.onFatal told of an error that trying again cannot mend; nothing runs any more then
 */
export function createIndexer(options: {
  pool: pg.Pool;
  rpcUrl: string;
  wsUrl: string;
  programId: PublicKey;
  commitment: Commitment;
  keepers: readonly Keeper[];
  logger: Logger;
  metrics: IndexerMetrics;
  onFatal: (error: FatalError) => void;
}): Indexer {
  const { pool, rpcUrl, wsUrl, programId, commitment, keepers, logger, metrics, onFatal } = options;
  const source = createLedgerSource({ rpc: createRpc(rpcUrl), programId });
  const stopping = new AbortController();
  const wakeUp = createWakeUp();
  let role: IndexerHealth['role'] = 'starting';
  let sweptAtMs = Number.NEGATIVE_INFINITY;
  let backoffMs = BACKOFF_MS_MIN;
  let running = Promise.resolve();

  async function work(client: pg.PoolClient, lost: AbortSignal): Promise<void> {
    role = 'leader';
    logger.info({ msg: 'Took over the mirror' });
    const failed = new AbortController();
    const signal = AbortSignal.any([lost, failed.signal]);
    const hints = createLogHints({
      ...{ url: wsUrl, programId, commitment, logger },
      onHint: wakeUp.wake,
    });
    const mirror = keepMirror({
      ...{ client, wakeUp, hints, signal, logger, metrics },
      context: { source, commitment, addresses: createAddresses(programId) },
      onSwept() {
        sweptAtMs = performance.now();
        backoffMs = BACKOFF_MS_MIN;
      },
    });
    try {
      await Promise.all([mirror, ...keepers.map((keeper) => keeper.run(signal))]);
    } finally {
      role = 'starting';
      failed.abort();
      await mirror.catch(() => undefined);
      hints.close();
      logger.info({ msg: 'Left the mirror' });
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await lead(pool, stopping.signal, work, () => {
          role = 'standby';
        });
      } catch (error) {
        if (stopping.signal.aborted) return;
        const failure = classify(error);
        if (failure instanceof FatalError) {
          onFatal(failure);
          return;
        }
        const reason = failure.message;
        logger.warn({ msg: 'Lost the ledger or the database', reason, backoff_ms: backoffMs });
      }
      await delay(backoffMs, stopping.signal);
      backoffMs = Math.min(backoffMs * 2, BACKOFF_MS_MAX);
    }
  }

  return {
    start() {
      running = run();
    },
    async stop() {
      stopping.abort();
      await running;
    },
    health: () => ({
      role,
      caughtUp: performance.now() - sweptAtMs < CAUGHT_UP_MS_MAX,
    }),
  };
}
