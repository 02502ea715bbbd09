import type { Database } from '../../../common/postgres.ts';
import { notifyDue } from '../../../webhookOperations/due.ts';
import { insertListenerEvents, type ListenerEvent } from '../../../webhookOperations/listeners.ts';
import { WEBHOOK_KINDS } from '../../../webhooks/events.ts';
import type { EventPlace, LedgerEvent } from '../../fold/event.ts';
import { atomically } from '../../sql/writeChanges.ts';
import { readCreditHolders, restoreCreditAlert } from './credits.ts';
import {
  eventIdOf,
  insertDeliveries,
  isFor,
  type NewDelivery,
  renderDelivery,
  renderListenerEvent,
  selectSubscribers,
} from './deliveries.ts';
import { isAnnounced, occurrencesOf, readFacts } from './descriptions.ts';
import { type Occurrence, resetPosition, selectPosition } from './occurrence.ts';

/** Makes due what waited for its transaction to be final. @returns whether anything did */
async function releaseDeliveries(
  database: Database,
  signatures: readonly string[],
): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'release_deliveries',
    text: `
      update service.webhook_deliveries set due_at = now()
      where signature = any($1) and status = 'pending' and due_at = 'infinity'`,
    values: [signatures],
  });
  return rowCount !== 0;
}

/** The transactions that are known to be final while deliveries still wait for that. */
async function selectFinalHeld(database: Database): Promise<string[]> {
  const { rows } = await database.query<{ signature: string }>(
    `select distinct signature from service.webhook_deliveries
     join transactions using (signature)
     where status = 'pending' and due_at = 'infinity' and commitment = 'finalized'`,
  );
  return rows.map(({ signature }) => signature);
}

/** Forgets what was announced of ledger events and nobody was sent. */
async function deleteUnsent(database: Database, events: readonly EventPlace[]): Promise<void> {
  const eventIds = events.flatMap((event) => WEBHOOK_KINDS.map((kind) => eventIdOf(event, kind)));
  const signatures = events.map(({ signature }) => signature);
  await database.query(
    `delete from service.webhook_deliveries
     where signature = any($1) and event_id = any($2) and attempts = 0`,
    [signatures, eventIds],
  );
}

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
export function createAnnouncer({ awaitsFinality }: Announcing, floorSlot: bigint): Announcer {
  async function deliver(database: Database, occurrences: readonly Occurrence[]): Promise<void> {
    if (occurrences.length === 0) return;
    const subscribers = await selectSubscribers(database, occurrences);
    const deliveries: NewDelivery[] = [];
    const listenerEvents: ListenerEvent[] = [];
    for (const occurrence of occurrences) {
      for (const subscriber of subscribers.filter((one) => isFor(occurrence, one))) {
        if (subscriber.status === 'listener') {
          listenerEvents.push(renderListenerEvent(occurrence, subscriber));
        } else deliveries.push(renderDelivery(occurrence, subscriber, awaitsFinality));
      }
    }
    if (listenerEvents.length > 0) {
      await insertListenerEvents(database, listenerEvents, awaitsFinality);
    }
    if (deliveries.length === 0) return;
    if (await insertDeliveries(database, deliveries)) await notifyDue(database);
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
      if (await releaseDeliveries(database, signatures)) await notifyDue(database);
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

/**
 * Goes on announcing where this or another process left off. In a mirror that was emptied since,
 * what was announced before is found again, and not announced again. In one that was made anew
 * beside the old one, transactions may be final of which nobody was told that they are.
 *
 * On a new installation, nothing that happened before it is announced: nobody had asked to be told.
 *
 * @param options.database the connection that writes the mirror
 * @param options.sweptSlot the mirror's cursor
 * @param options.ledgerSlot asked on a new installation only
 */
export async function resumeAnnouncing(options: {
  database: Database;
  announcing: Announcing;
  sweptSlot: bigint;
  ledgerSlot: () => Promise<bigint>;
}): Promise<Announcer> {
  const { database, announcing, sweptSlot, ledgerSlot } = options;
  let position = await selectPosition(database);
  if (position === undefined) {
    position = await resetPosition(database, await ledgerSlot());
  } else if (sweptSlot < position.sweptSlot) {
    position = await resetPosition(database, position.sweptSlot);
  }
  const announcer = createAnnouncer(announcing, position.floorSlot);
  await atomically(database, async () => {
    await announcer.release(database, await selectFinalHeld(database));
  });
  return announcer;
}
