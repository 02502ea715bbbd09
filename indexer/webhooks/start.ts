import type pg from 'pg';
import type { Registry } from 'prom-client';
import type { Logger } from '../../common/logger.ts';
import { createGuardedDispatcher } from '../../common/net/addressGuard.ts';
import type { Sealing } from '../../common/sealing.ts';
import { awaitDatabase } from '../../common/transientErrors.ts';
import type { FatalError } from '../source/errors.ts';
import { createMakeAttempt } from './deliver/attempt.ts';
import { openAttemptJobs } from './deliver/attemptJobs.ts';
import { createDispatcher } from './deliver/dispatcher.ts';
import { EXCHANGE_MS_MAX } from './deliver/exchange.ts';
import { createWebhookMetrics } from './deliver/metrics.ts';
import { createDeliveryQueue, type DeliveryQueue } from './deliver/queue.ts';
import { createShares } from './deliver/shares.ts';
import { createUpkeep } from './deliver/upkeep.ts';

/** The deliveries of this process. Any number of processes may make them side by side. */
export interface Webhooks {
  /** Where announced events go. */
  readonly queue: DeliveryQueue;
  stop(): Promise<void>;
}

/**
 * @param options.pool the migrated database
 * @param options.queryTimeoutMs after which the queue's database counts as away, as in `createPool`
 * @param options.sealing opens the webhooks' secrets
 * @param options.onFatal told of an error that trying again cannot mend; nothing is sent any more
 */
export async function startWebhooks(options: {
  pool: pg.Pool;
  databaseUrl: string;
  queryTimeoutMs?: number;
  sealing: Pick<Sealing, 'open'>;
  allowLoopback: boolean;
  registry: Registry;
  logger: Logger;
  onFatal: (error: FatalError) => void;
}): Promise<Webhooks> {
  const { pool, databaseUrl, queryTimeoutMs, sealing, allowLoopback } = options;
  const { registry, logger, onFatal } = options;
  const metrics = createWebhookMetrics(registry);
  const bounds = queryTimeoutMs === undefined ? {} : { queryTimeoutMs };
  const openJobs = () => openAttemptJobs({ databaseUrl, logger, ...bounds });
  const jobs = await awaitDatabase(openJobs, logger);
  const queue = createDeliveryQueue(jobs.boss);
  const connections = createGuardedDispatcher({ allowLoopback, connectTimeoutMs: EXCHANGE_MS_MAX });
  const makeAttempt = createMakeAttempt({
    ...{ pool, queue, sealing, logger },
    dispatcher: connections,
    onAttempt: metrics.attempt,
  });
  const shares = createShares(() => performance.now());
  const dispatcher = createDispatcher({ jobs, shares, makeAttempt, logger, onFatal });
  const upkeep = createUpkeep({ pool, queue, metrics, logger, onFatal });
  await awaitDatabase(dispatcher.start, logger);
  upkeep.start();
  return {
    queue,
    async stop() {
      await Promise.all([dispatcher.stop(), upkeep.stop()]);
      await jobs.close();
      await connections.destroy();
    },
  };
}
