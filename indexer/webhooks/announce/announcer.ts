import type { Database } from '../../../common/postgres.ts';
import type { LedgerEvent } from '../../decode.ts';
import type { DeliveryQueue } from '../deliver/queue.ts';
import { restoreCreditAlert } from './creditAlerts.ts';
import { readCreditHolders } from './creditHolders.ts';
import { readFacts } from './facts.ts';
import { deleteUnsent, releaseDeliveries } from './heldDeliveries.ts';
import { insertDeliveries } from './insertDeliveries.ts';
import type { Occurrence } from './occurrence.ts';
import { isAnnounced, occurrencesOf } from './occurrences.ts';
import { renderDelivery } from './renderDelivery.ts';
import { isFor, selectSubscribers } from './subscribers.ts';

/**
 * Turns what the mirror folds into deliveries to webhooks. Every call works in the caller's database
 * transaction, so that an event is stored and announced, or neither.
 */
export interface Announcer {
  /** @param events in the order of their folding */
  announce(database: Database, events: readonly LedgerEvent[]): Promise<void>;
  /** Transactions became final. */
  release(database: Database, signatures: readonly string[]): Promise<void>;
  /**
   * A transaction vanished from the ledger, and the tables are as they were without it and without
   * what was built upon it. That is announced again when it is folded again: an alert depends on
   * what was before.
   *
   * @param vanished.events all that the tables have lost
   */
  withdraw(
    database: Database,
    vanished: { signature: string; events: readonly LedgerEvent[] },
  ): Promise<void>;
}

/** How events go out. */
export interface Announcing {
  readonly queue: DeliveryQueue;
  /** Only when their transactions are final. */
  readonly awaitsFinality: boolean;
}

/** So many occurrences are told at once; each to the webhooks of a wallet, of which there are few. */
const TOLD_AT_ONCE = 100;

/** One that is for everybody is told alone, since nobody knows how many bodies that makes. */
function isEnough(occurrences: readonly Occurrence[]): boolean {
  return occurrences.length >= TOLD_AT_ONCE || occurrences.at(-1)?.wallet === null;
}

/** @param floorSlot nothing up to it is announced */
export function createAnnouncer(
  { queue, awaitsFinality }: Announcing,
  floorSlot: bigint,
): Announcer {
  async function deliver(database: Database, occurrences: readonly Occurrence[]): Promise<void> {
    if (occurrences.length === 0) return;
    const subscribers = await selectSubscribers(database, occurrences);
    const deliveries = occurrences.flatMap((occurrence) =>
      subscribers
        .filter((subscriber) => isFor(occurrence, subscriber))
        .map((subscriber) => renderDelivery(occurrence, subscriber, awaitsFinality)),
    );
    if (deliveries.length === 0) return;
    await queue.add(database, await insertDeliveries(database, deliveries));
  }

  return {
    async announce(database, events) {
      const news = events.filter((event) => event.slot > floorSlot);
      if (!news.some(isAnnounced)) return;
      const facts = await readFacts(database, news);
      const occurrences: Occurrence[] = [];
      for (const event of news) {
        occurrences.push(...(await occurrencesOf(database, event, facts)));
        if (isEnough(occurrences)) await deliver(database, occurrences.splice(0));
      }
      await deliver(database, occurrences);
    },
    async release(database, signatures) {
      await queue.add(database, await releaseDeliveries(database, signatures));
    },
    async withdraw(database, { signature, events }) {
      const isLost = (event: LedgerEvent) => event.signature === signature;
      await deleteUnsent(
        database,
        events.filter((event) => isLost(event) || event.slot > floorSlot),
      );
      for (const [creditAccount, wallet] of await readCreditHolders(database, events)) {
        await restoreCreditAlert(database, { wallet, creditAccount }, { signature, floorSlot });
      }
    },
  };
}
