import type { Database } from '../../../common/postgres.ts';
import { notifyDue } from '../../../webhookOperations/due.ts';
import { WEBHOOK_KINDS } from '../../../webhooks/events.ts';
import type { EventPlace, LedgerEvent } from '../../fold/event.ts';
import { atomically } from '../../sql/writeChanges.ts';
import { readCreditHolders, restoreCreditAlert } from './creditAlerts.ts';
import { eventIdOf, haveSubscribers, storeDeliveries } from './deliveries.ts';
import { isAnnounced, outgoingEventsOf } from './eventSources.ts';
import { type OutgoingEvent, readContext } from './outgoingEvent.ts';

export type WebhookOutbox = ReturnType<typeof createWebhookOutbox>;

export interface OutboxSettings {
  /** Whether events are sent only when their transactions are final. */
  readonly awaitsFinality: boolean;
}

/**
 * Continues to announce where this or another process stopped. In a mirror that was emptied since,
 * what was announced before is found again, and not announced again. While the mirror was rebuilt
 * beside the old one, transactions may have become final: their deliveries are released.
 *
 * On a new installation, nothing that happened before it is announced.
 *
 * @param options.database the connection that writes the mirror
 * @param options.sweptSlot the mirror's cursor
 * @param options.ledgerSlot asked on a new installation only
 */
export async function resumeOutbox(options: {
  database: Database;
  outboxSettings: OutboxSettings;
  sweptSlot: bigint;
  ledgerSlot: () => Promise<bigint>;
}): Promise<WebhookOutbox> {
  const { database, outboxSettings, sweptSlot, ledgerSlot } = options;
  let position = await selectPosition(database);
  if (position === undefined) {
    position = await resetPosition(database, await ledgerSlot());
  } else if (sweptSlot < position.sweptSlot) {
    position = await resetPosition(database, position.sweptSlot);
  }
  const outbox = createWebhookOutbox(outboxSettings, position.floorSlot);
  await atomically(database, async () => {
    await outbox.markFinal(database, await selectFinalHeld(database));
  });
  return outbox;
}

/** How far events have been announced. */
interface Position {
  /** Nothing up to this slot is announced any more. */
  readonly floorSlot: bigint;
  /** The mirror's cursor up to which everything has been announced. */
  readonly sweptSlot: bigint;
}

/** @returns undefined on a new installation */
async function selectPosition(database: Database): Promise<Position | undefined> {
  const { rows } = await database.query<{ floor_slot: bigint; swept_slot: bigint }>(
    'select floor_slot, swept_slot from service.announcements',
  );
  return rows[0] && { floorSlot: rows[0].floor_slot, sweptSlot: rows[0].swept_slot };
}

/** Begins at a slot: nothing up to it is announced. */
export async function resetPosition(database: Database, slot: bigint): Promise<Position> {
  await database.query(
    `insert into service.announcements (floor_slot, swept_slot) values ($1, $1)
     on conflict (is_only) do update set floor_slot = $1, swept_slot = $1`,
    [slot],
  );
  return { floorSlot: slot, sweptSlot: slot };
}

/** Notes that everything up to a cursor of the mirror has been announced; it never goes back. */
export async function movePosition(database: Database, sweptSlot: bigint): Promise<void> {
  await database.query({
    name: 'move_position',
    text: 'update service.announcements set swept_slot = $1 where swept_slot < $1',
    values: [sweptSlot],
  });
}

/**
 * Turns what the mirror folds into deliveries to webhooks. Every call works in the caller's database
 * transaction, so that an event is stored and announced, or neither.
 *
 * @param floorSlot nothing up to it is announced
 */
export function createWebhookOutbox({ awaitsFinality }: OutboxSettings, floorSlot: bigint) {
  return {
    /** @param events in the order of their folding */
    async announce(database: Database, events: readonly LedgerEvent[]): Promise<void> {
      const recent = events.filter((event) => event.slot > floorSlot);
      if (!recent.some(isAnnounced)) return;
      const [context, areHeard] = await Promise.all([
        readContext(database, recent),
        haveSubscribers(database, recent),
      ]);
      const outgoing: OutgoingEvent[] = [];
      for (const event of recent) {
        // Also where it is not heard: the alert of its wallet follows it.
        const made = await outgoingEventsOf(event, context);
        outgoing.push(...made.filter(({ wallet }) => areHeard || wallet === null));
        if (isBatch(outgoing)) await storeDeliveries(database, outgoing.splice(0), awaitsFinality);
      }
      await storeDeliveries(database, outgoing, awaitsFinality);
    },
    /** Makes deliveries due that waited for these transactions to become final. */
    async markFinal(database: Database, signatures: readonly string[]): Promise<void> {
      if (await releaseDeliveries(database, signatures)) await notifyDue(database);
    },
    /**
     * A transaction vanished from the ledger, and the tables are as they were without it and without
     * what was built upon it. What was built upon it is announced again when it is folded again: an
     * alert depends on what was before.
     *
     * @param vanished.events all that the tables have lost
     */
    async withdraw(
      database: Database,
      vanished: { signature: string; events: readonly LedgerEvent[] },
    ): Promise<void> {
      const { signature, events } = vanished;
      const isLost = (event: LedgerEvent) => event.signature === signature;
      await deleteUnsent(
        database,
        events.filter((event) => isLost(event) || event.slot > floorSlot),
      );
      const holders = [...(await readCreditHolders(database, events))];
      // Alerts are locked in the order of wallets everywhere.
      for (const [creditAccount, wallet] of holders.sort(([, one], [, other]) =>
        one < other ? -1 : 1,
      )) {
        await restoreCreditAlert(database, { wallet, creditAccount }, { signature, floorSlot });
      }
    },
  };
}

/** Stored at once, each for the webhooks of a wallet, of which there are few. */
const BATCH = 100;

/** An event for all wallets ends a batch, since it may have any number of subscribers. */
function isBatch(outgoing: readonly OutgoingEvent[]): boolean {
  return outgoing.length >= BATCH || outgoing.at(-1)?.wallet === null;
}

/** @returns whether any delivery waited */
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

/** Deletes the deliveries of ledger events that were not attempted. */
async function deleteUnsent(database: Database, events: readonly EventPlace[]): Promise<void> {
  const eventIds = events.flatMap((event) => WEBHOOK_KINDS.map((kind) => eventIdOf(event, kind)));
  const signatures = events.map(({ signature }) => signature);
  await database.query(
    `delete from service.webhook_deliveries
     where signature = any($1) and event_id = any($2) and attempts = 0`,
    [signatures, eventIds],
  );
}
