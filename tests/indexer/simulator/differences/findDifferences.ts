import type pg from 'pg';
import type { OutboxSettings } from '../../../../indexer/webhooks/announce/webhookOutbox.ts';
import type { SimulatedLedger } from '../ledger/simulatedLedger.ts';
import { compareAccounts } from './accounts.ts';
import { compareAnnouncements, selectDeliveries } from './announcements.ts';
import { type CleanFold, foldCleanly } from './cleanFold.ts';
import { compareDueEvents } from './dueEvents.ts';
import { compareCursors, compareJournal } from './journal.ts';

/** What is wrong with a mirror; every list is empty when nothing is. */
export interface Differences {
  readonly journal: string[];
  readonly cursors: string[];
  readonly accounts: string[];
  readonly tables: string[];
  readonly dueEvents: string[];
  readonly announcements: string[];
}

/**
 * Compares what was kept while everything failed with what the ledger holds in the end.
 *
 * @param options.floorSlot nothing up to it is announced
 * @param clean what comes of the ledger when nothing fails, where that is known
 */
export async function findDifferences(
  options: {
    pool: pg.Pool;
    ledger: SimulatedLedger;
    outboxSettings: OutboxSettings;
    floorSlot: bigint;
  },
  clean?: CleanFold,
): Promise<Differences> {
  const { pool, ledger, outboxSettings, floorSlot } = options;
  const announced = await selectDeliveries(pool);
  const { tables, deliveries } = clean ?? (await foldCleanly(options));
  return {
    journal: await compareJournal(pool, ledger),
    cursors: await compareCursors(pool, ledger),
    accounts: await compareAccounts(pool, ledger.state),
    tables,
    dueEvents: compareDueEvents(deliveries, ledger, floorSlot),
    announcements: compareAnnouncements(announced, deliveries, outboxSettings.awaitsFinality),
  };
}
