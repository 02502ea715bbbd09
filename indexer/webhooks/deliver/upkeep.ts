import type pg from 'pg';
import type { Logger } from '../../../common/logger.ts';
import { delay } from '../../../common/wait.ts';
import { classify, FatalError } from '../../errors.ts';
import type { WebhookMetrics } from '../metrics.ts';
import { deleteOldDeliveries } from './deleteOldDeliveries.ts';
import { measureBacklog } from './measureBacklog.ts';
import type { DeliveryQueue } from './queue.ts';
import { selectOverdue } from './selectOverdue.ts';

/** What has to be done now and then, by any number of processes. */
export interface Upkeep {
  start(): void;
  stop(): Promise<void>;
}

const INTERVAL_MS = 15_000;

/** @param options.onFatal told of an error that trying again cannot mend; nothing runs any more then */
export function createUpkeep(options: {
  pool: pg.Pool;
  queue: DeliveryQueue;
  metrics: Pick<WebhookMetrics, 'backlog'>;
  logger: Logger;
  onFatal: (error: FatalError) => void;
}): Upkeep {
  const { pool, queue, metrics, logger, onFatal } = options;
  const stopping = new AbortController();
  let running = Promise.resolve();

  async function round(): Promise<void> {
    // Those that are queued stay as they are: only what the queue has lost is put there again.
    await queue.add(pool, await selectOverdue(pool));
    metrics.backlog(await measureBacklog(pool));
    await deleteOldDeliveries(pool, stopping.signal);
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await round();
      } catch (error) {
        const failure = classify(error);
        if (failure instanceof FatalError) return onFatal(failure);
        logger.warn({ msg: 'Failed to look after the webhooks', reason: failure.message });
      }
      await delay(INTERVAL_MS, stopping.signal);
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
  };
}
