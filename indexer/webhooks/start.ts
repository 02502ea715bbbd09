import type pg from 'pg';
import type { Registry } from 'prom-client';
import type { Logger } from '../../common/logger.ts';
import { createGuardedAgents } from '../../common/net/addressGuard.ts';
import { createPool } from '../../common/postgres.ts';
import type { Sealing } from '../../common/sealing.ts';
import { awaitDatabase } from '../../common/transientErrors.ts';
import type { Time } from '../../common/wait.ts';
import type { FatalError } from '../source/errors.ts';
import { createMakeAttempt } from './deliver/attempt.ts';
import { createDeliveryLimits } from './deliver/deliveryLimits.ts';
import { createDispatcher } from './deliver/dispatcher.ts';
import { EXCHANGE_MS_MAX } from './deliver/exchange.ts';
import { createWebhookMetrics } from './deliver/metrics.ts';

/** One listens, the other claims attempts: neither waits for the mirror's statements. */
const CONNECTIONS = 2;

/**
 * Starts the deliveries of this process. Any number of processes may make them side by side.
 *
 * @param options.pool the migrated database
 * @param options.queryTimeoutMs after which the database counts as away, as in `createPool`
 * @param options.listenProbeMs as in `listen`
 * @param options.exchangeMs as in `createMakeAttempt`
 * @param options.sealing opens the webhooks' secrets
 * @param options.onFatal called with an error that no retry can mend; nothing is sent any more
 * @param options.time what it waits by for the database at its start
 */
export async function startWebhooks(options: {
  pool: pg.Pool;
  databaseUrl: string;
  queryTimeoutMs?: number;
  listenProbeMs?: number;
  exchangeMs?: number;
  sealing: Pick<Sealing, 'open'>;
  allowLoopback: boolean;
  registry: Registry;
  logger: Logger;
  onFatal: (error: FatalError) => void;
  time?: Time | undefined;
}): Promise<{ stop(): Promise<void> }> {
  const { pool, databaseUrl, queryTimeoutMs, listenProbeMs, sealing, allowLoopback } = options;
  const { registry, logger, onFatal, time, exchangeMs = EXCHANGE_MS_MAX } = options;
  const metrics = createWebhookMetrics({ registry, pool, logger });
  const claimingPool = createPool({
    databaseUrl,
    applicationName: 'svc-webhooks',
    max: CONNECTIONS,
    ...(queryTimeoutMs !== undefined && { queryTimeoutMs }),
  });
  await awaitDatabase(() => claimingPool.query('select'), logger, time);
  const agents = createGuardedAgents({ allowLoopback });
  const makeAttempt = createMakeAttempt({
    pool,
    sealing,
    logger,
    agents,
    exchangeMs,
    onAttempt: metrics.attempt,
  });
  const dispatcher = createDispatcher({
    pool: claimingPool,
    limits: createDeliveryLimits(() => performance.now()),
    ...{ makeAttempt, logger, onFatal, listenProbeMs },
  });
  dispatcher.start();
  return {
    async stop() {
      await dispatcher.stop();
      agents.destroy();
      if (!claimingPool.ended) await claimingPool.end();
    },
  };
}
