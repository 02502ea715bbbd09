import type pg from 'pg';
import type { Chance } from './chance.ts';
import type { FaultRates } from './faultRates.ts';
import type { Indexers } from './indexers.ts';
import type { SimulatedClock } from './simulatedClock.ts';

const INDEXERS_MAX = 3;
/** In a thousand steps: somebody restarts what has ended. */
const ARRIVALS_WITHOUT_INDEXER = 400;
const SENDINGS = 200;
const SENT_AT_ONCE = 5;
const HINTS_MAX = 3;

/** What happens around the indexers in one step, besides the ledger's own life. */
export async function disturb(options: {
  indexers: Indexers;
  clock: SimulatedClock;
  /** Whose connections nothing ends. */
  operator: pg.Pool;
  chance: Chance;
  rates: FaultRates;
}): Promise<void> {
  const { indexers, clock, operator, chance, rates } = options;
  const arrivals = indexers.count === 0 ? ARRIVALS_WITHOUT_INDEXER : rates.arrivals;
  if (indexers.count < INDEXERS_MAX && chance.happens(arrivals)) indexers.start();
  await clock.settle();
  if (indexers.count > 0 && chance.happens(rates.kills)) {
    await indexers.kill(chance.below(indexers.count));
  }
  if (indexers.count > 0 && chance.happens(rates.departures)) {
    indexers.stop(chance.below(indexers.count));
  }
  await clock.settle();
  if (chance.happens(rates.databaseRestarts)) await indexers.disconnect();
  await clock.settle();
  if (chance.happens(SENDINGS)) await sendDeliveries(operator);
  for (let hints = chance.below(HINTS_MAX + 1); hints > 0; hints -= 1) {
    // What pushes to an indexer only says that there may be something: late, twice or never.
    await operator.query('notify ledger_hint');
  }
  await indexers.receiveNotifications();
  await clock.settle();
}

/** Receivers get first what was due first. */
async function sendDeliveries(operator: pg.Pool): Promise<void> {
  await operator.query(
    `update service.webhook_deliveries
     set status = 'delivered', attempts = 1, due_at = null, delivered_at = now()
     where id in (
       select id from service.webhook_deliveries
       where status = 'pending' and due_at < 'infinity' order by id limit ${SENT_AT_ONCE}
     )`,
  );
}
