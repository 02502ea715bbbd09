import { once } from 'node:events';
import type { PublicKey } from '@solana/web3.js';
import type pg from 'pg';
import type { Logger } from '../common/logger.ts';
import type { Commitment } from '../common/net/commitment.ts';
import { delay } from '../common/wait.ts';
import { createAddresses } from '../programs/client/addresses.ts';
import type { Keeper } from './keeper/keeper.ts';
import { keepMirror } from './mirror/keepMirror.ts';
import { lead } from './mirror/leadership.ts';
import type { Lag, Progress } from './mirror/progress.ts';
import { followHead } from './mirror/sweep.ts';
import type { ReconcileWatch } from './reconcile/reconcileWatch.ts';
import { classify, FatalError } from './source/errors.ts';
import { createAnnouncements, createLogHints } from './source/hints.ts';
import type { LedgerSource } from './source/source.ts';
import { MIRROR_SCHEMA, useSchema } from './sql/schema.ts';
import type { IndexerMetrics, Role } from './telemetry/metrics.ts';
import { TIME_LIMITS, type TimeLimits } from './timeLimits.ts';
import type { Announcing } from './webhooks/announce/announcer.ts';

/** What `/health` and `/ready` tell. */
export interface IndexerHealth {
  role: Role;
  /** Null until the first sweep, and while another process keeps the mirror. */
  lag: Lag | null;
  /** How many reconciliations in a row, up to the last one, found a difference. */
  reconcileBreaches: number;
  /** Whether readers may rely on the mirror, as far as this process knows. */
  isReady: boolean;
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
/** One breach may be a node's mistake, and nothing that is not mended comes only once. */
const BREACHES_MAX = 2;

/**
 * @param options.pool the migrated database; one connection is held for good
 * @param options.keepers what runs beside the mirror while this process leads, once it is complete
 * @param options.lagMax beyond which the mirror is not ready to be read
 * @param options.announcing how webhooks are told of what the mirror learns
 * @param options.onFatal told of an error that trying again cannot mend; nothing runs any more then
 */
export function createIndexer(options: {
  pool: pg.Pool;
  source: LedgerSource;
  wsUrl: string;
  programId: PublicKey;
  commitment: Commitment;
  keepers: readonly Keeper[];
  reconcileWatch: ReconcileWatch;
  progress: Progress;
  lagMax: Lag;
  announcing: Announcing;
  logger: Logger;
  metrics: IndexerMetrics;
  onFatal: (error: FatalError) => void;
  limits?: Pick<TimeLimits, 'leadAttemptMs' | 'settleIntervalMs'>;
}): Indexer {
  const { pool, source, wsUrl, programId, commitment, keepers, logger, metrics, onFatal } = options;
  const { reconcileWatch, progress, lagMax, announcing } = options;
  const { leadAttemptMs, settleIntervalMs } = options.limits ?? TIME_LIMITS;
  const stopping = new AbortController();
  const announcements = createAnnouncements();
  let role: Role = 'starting';
  let backoffMs = BACKOFF_MS_MIN;
  let running = Promise.resolve();

  function become(next: Role): void {
    role = next;
    metrics.became(next);
  }

  /** In a first sync, whatever was ever due looks due for as long as its end is not read. */
  async function keepOnceComplete(keeper: Keeper, signal: AbortSignal): Promise<void> {
    if (!signal.aborted) await Promise.race([progress.whenComplete(), once(signal, 'abort')]);
    if (!signal.aborted) await keeper.run(signal);
  }

  async function work(client: pg.PoolClient, lost: AbortSignal): Promise<void> {
    become('leader');
    progress.lead();
    await useSchema(client, MIRROR_SCHEMA);
    logger.info({ msg: 'Took over the mirror' });
    const failed = new AbortController();
    const signal = AbortSignal.any([lost, failed.signal]);
    const hints = createLogHints({
      url: wsUrl,
      programId,
      commitment,
      logger,
      onHint: (transaction) =>
        transaction ? announcements.name(transaction) : announcements.hint(),
    });
    const mirror = keepMirror({
      client,
      announcements,
      hints,
      signal,
      logger,
      metrics,
      progress,
      announcing,
      settleIntervalMs,
      context: { source, commitment, addresses: createAddresses(programId) },
    });
    const parts = [
      mirror,
      followHead({ source, commitment, progress, signal }),
      reconcileWatch.run(signal),
      ...keepers.map((keeper) => keepOnceComplete(keeper, signal)),
    ];
    try {
      await Promise.all(parts);
    } finally {
      become('starting');
      if (progress.lag()) backoffMs = BACKOFF_MS_MIN;
      progress.forget();
      failed.abort();
      await Promise.allSettled(parts);
      hints.close();
      logger.info({ msg: 'Left the mirror' });
    }
  }

  function standBy(): void {
    become('standby');
    progress.standBy();
    // The database answers again, so what comes next is another trouble.
    backoffMs = BACKOFF_MS_MIN;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await lead(pool, stopping.signal, work, standBy, leadAttemptMs);
      } catch (error) {
        if (stopping.signal.aborted) return;
        const failure = classify(error);
        if (failure instanceof FatalError) {
          onFatal(failure);
          return;
        }
        const reason = failure.message;
        // What has not passed by then may need a person after all, who may read errors only.
        const level = backoffMs < BACKOFF_MS_MAX ? 'warn' : 'error';
        logger[level]({ msg: 'Lost the ledger or the database', reason, backoff_ms: backoffMs });
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
    health() {
      const lag = progress.lag() ?? null;
      const reconcileBreaches = reconcileWatch.breaches();
      const isCurrent = lag !== null && lag.slots <= lagMax.slots && lag.ms <= lagMax.ms;
      return {
        role,
        lag,
        reconcileBreaches,
        isReady: role === 'standby' || (isCurrent && reconcileBreaches <= BREACHES_MAX),
      };
    },
  };
}
