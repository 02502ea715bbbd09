import { once } from 'node:events';
import type { PublicKey } from '@solana/web3.js';
import type pg from 'pg';
import type { Logger } from '../common/logger.ts';
import type { Commitment } from '../common/net/commitment.ts';
import { delay } from '../common/wait.ts';
import { createAddresses } from '../programs/client/addresses.ts';
import type { Keeper } from './keeper/keeper.ts';
import { keepMirror } from './mirror/keepMirror.ts';
import { withLeadership } from './mirror/leadership.ts';
import type { Lag, Progress } from './mirror/progress.ts';
import { followHead } from './mirror/sweep.ts';
import type { ReconcileWatch } from './reconcile/reconcileWatch.ts';
import { classify, FatalError } from './source/errors.ts';
import {
  createLedgerHints,
  createLogSubscription,
  type LedgerHints,
  type LogSubscription,
} from './source/hints.ts';
import type { LedgerSource } from './source/source.ts';
import { findMirror, useSchema } from './sql/schema.ts';
import type { IndexerMetrics, Role } from './telemetry/metrics.ts';
import { TIME_LIMITS, type TimeLimits } from './timeLimits.ts';
import type { OutboxSettings } from './webhooks/announce/webhookOutbox.ts';

/** What `/health` and `/ready` answer. */
export interface IndexerHealth {
  role: Role;
  /** Null until the first sweep, and while another process keeps the mirror. */
  lag: Lag | null;
  /** How many reconciliations in a row, up to the last one, found a difference. */
  reconcileBreaches: number;
  /** Whether readers may rely on the mirror, as far as this process knows. */
  isReady: boolean;
}

export type Indexer = ReturnType<typeof createIndexer>;

const BACKOFF_MS_MIN = 100;
const BACKOFF_MS_MAX = 5_000;
/** One breach may be a node's mistake. A lasting one shows in every reconciliation. */
const BREACHES_MAX = 2;

interface Options {
  /** The migrated database; one connection is held for good. */
  readonly pool: pg.Pool;
  readonly source: LedgerSource;
  readonly wsUrl: string;
  readonly programId: PublicKey;
  readonly commitment: Commitment;
  /** What runs beside the mirror while this process leads, once it is complete. */
  readonly keepers: readonly Keeper[];
  readonly reconcileWatch: ReconcileWatch;
  readonly progress: Progress;
  /** Beyond which the mirror is not ready to be read. */
  readonly lagMax: Lag;
  /** How webhooks learn what the mirror learns. */
  readonly outboxSettings: OutboxSettings;
  readonly logger: Logger;
  readonly metrics: IndexerMetrics;
  /** Called with an error that a retry cannot mend, after everything has ended. */
  readonly onFatal: (error: FatalError) => void;
  readonly limits?: Pick<TimeLimits, 'leadAttemptMs' | 'settleIntervalMs'>;
}

/** Keeps the mirror, and does the keepers' duties, while it is the only one to do so. */
export function createIndexer(options: Options) {
  const { pool, logger, metrics, onFatal, reconcileWatch, progress, lagMax } = options;
  const { leadAttemptMs } = options.limits ?? TIME_LIMITS;
  const stopping = new AbortController();
  const hints = createLedgerHints();
  let role: Role = 'starting';
  let backoffMs = BACKOFF_MS_MIN;
  let running = Promise.resolve();

  function become(next: Role): void {
    role = next;
    metrics.became(next);
  }

  async function work(client: pg.PoolClient, lost: AbortSignal): Promise<void> {
    become('leader');
    progress.lead();
    await useSchema(client, await findMirror(client));
    logger.info({ msg: 'Took over the mirror' });
    const failed = new AbortController();
    const subscription = subscribe(options, hints);
    const signal = AbortSignal.any([lost, failed.signal]);
    const parts = startParts(options, { client, hints, subscription, signal });
    try {
      await Promise.all(parts);
    } finally {
      become('starting');
      if (progress.lag()) backoffMs = BACKOFF_MS_MIN;
      progress.forget();
      failed.abort();
      await Promise.allSettled(parts);
      subscription.close();
      logger.info({ msg: 'Left the mirror' });
    }
  }

  function standBy(): void {
    become('standby');
    progress.standBy();
    // The database answers again, so the next failure is another one.
    backoffMs = BACKOFF_MS_MIN;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await withLeadership(pool, stopping.signal, work, standBy, leadAttemptMs);
      } catch (error) {
        if (stopping.signal.aborted) return;
        const failure = classify(error);
        if (failure instanceof FatalError) {
          onFatal(failure);
          return;
        }
        const reason = failure.message;
        // What lasts this long may need a person, who may read errors only.
        const level = backoffMs < BACKOFF_MS_MAX ? 'warn' : 'error';
        logger[level]({ msg: 'Lost the ledger or the database', reason, backoff_ms: backoffMs });
      }
      await delay(backoffMs, stopping.signal);
      backoffMs = Math.min(backoffMs * 2, BACKOFF_MS_MAX);
    }
  }

  return {
    start(): void {
      running = run();
    },
    /** Resolves when nothing runs any more. */
    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
    health(): IndexerHealth {
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

function subscribe(options: Options, hints: LedgerHints): LogSubscription {
  const { wsUrl: url, programId, commitment, logger } = options;
  return createLogSubscription({
    ...{ url, programId, commitment, logger },
    onHint: (transaction) => (transaction ? hints.name(transaction) : hints.hint()),
  });
}

/** Everything that runs while this process leads, until `signal` aborts. */
function startParts(
  options: Options,
  leading: {
    client: pg.PoolClient;
    hints: LedgerHints;
    subscription: LogSubscription;
    signal: AbortSignal;
  },
): Promise<void>[] {
  const { source, programId, commitment, keepers, reconcileWatch, progress } = options;
  const { logger, metrics, outboxSettings } = options;
  const { signal } = leading;
  const { settleIntervalMs } = options.limits ?? TIME_LIMITS;
  const context = { source, commitment, addresses: createAddresses(programId) };
  return [
    keepMirror({
      ...leading,
      context,
      logger,
      metrics,
      progress,
      outboxSettings,
      settleIntervalMs,
    }),
    followHead({ source, commitment, progress, signal }),
    ...[reconcileWatch, ...keepers].map((keeper) => keepOnceComplete(keeper, progress, signal)),
  ];
}

/**
 * During the first sync, finished jobs still look overdue, and only the sync itself sees the mirror.
 * So all others wait until it is complete.
 */
async function keepOnceComplete(
  keeper: Keeper,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  if (!signal.aborted) await Promise.race([progress.whenComplete(), once(signal, 'abort')]);
  if (!signal.aborted) await keeper.run(signal);
}
