import { once } from 'node:events';
import type { Logger } from '../../common/logger.ts';
import type { Database } from '../../common/postgres.ts';
import { delay } from '../../common/wait.ts';
import type { LedgerClock } from '../../programs/client/sender/index.ts';
import type { Keeper } from '../keeper/keeper.ts';
import type { IndexerMetrics } from '../metrics.ts';
import type { Offence } from './offences.ts';
import { suspendOffenders } from './suspendOffenders.ts';

/** An offence, and how many of it a wallet may have; 0 for any number. */
export interface AbuseLimit {
  readonly offence: Offence;
  readonly offencesMax: number;
}

const INTERVAL_MS = 5_000;

/** Suspends the keys of wallets that go on and on with what costs others and not them. */
export function createAbuseWatch(options: {
  limits: readonly AbuseLimit[];
  database: Database;
  clock: LedgerClock;
  logger: Logger;
  metrics: Pick<IndexerMetrics, 'suspended'>;
}): Keeper {
  const { database, clock, logger, metrics } = options;
  const limits = options.limits.filter(({ offencesMax }) => offencesMax > 0);

  async function judge(limit: AbuseLimit): Promise<void> {
    const nowSeconds = clock.nowSeconds();
    for (const suspended of await suspendOffenders(database, { ...limit, nowSeconds })) {
      const { reason } = limit.offence;
      metrics.suspended(reason);
      const { wallet, offences } = suspended;
      logger.warn({ msg: 'Suspended a key for abuse', wallet, reason, offences: `${offences}` });
    }
  }

  return {
    async run(signal) {
      if (!signal.aborted) await Promise.race([clock.ready, once(signal, 'abort')]);
      while (!signal.aborted) {
        for (const limit of limits) await judge(limit);
        await delay(INTERVAL_MS, signal);
      }
    },
  };
}
