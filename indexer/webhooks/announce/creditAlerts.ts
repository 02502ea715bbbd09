import { creditsNumber, usdcValue } from '../../../common/format.ts';
import type { Database } from '../../../common/postgres.ts';
import type { EventName } from '../../../programs/client/events.ts';
import type { EventData } from '../../../webhooks/events.ts';
import type { EventOf } from '../../fold/change.ts';
import type { LedgerEvent } from '../../fold/event.ts';
import { selectAccountEvents } from '../../sql/journal.ts';

/** Announces that credits which left for good took a wallet below its threshold. */
export async function lowCredits(
  event: LedgerEvent,
  { database, alerts }: { database: Database; alerts: CreditAlerts },
): Promise<{ wallet: string; data: EventData['credit.low'] } | undefined> {
  const balance = await balanceAfter(database, event);
  const alert = balance && alerts.get(balance.wallet);
  if (!alert) return undefined;
  const thresholdCredits = await moveCreditAlert(database, balance, alert);
  if (thresholdCredits === null) return undefined;
  return {
    wallet: balance.wallet,
    data: {
      credits_remaining: creditsNumber(balance.availableCredits),
      usdc_value: usdcValue(balance.availableCredits),
      threshold: creditsNumber(thresholdCredits),
    },
  };
}

/** The credit alerts of wallets. */
export type CreditAlerts = ReadonlyMap<string, CreditAlert>;

/**
 * The alerts of all wallets whose balances these events move, locked until the database transaction
 * ends. One statement locks them in the order of wallets. In the order of events, two transactions
 * could wait for each other.
 */
export async function lockMovedAlerts(
  database: Database,
  events: readonly LedgerEvent[],
): Promise<CreditAlerts> {
  const moving = events.filter(({ name }) => BALANCE_EVENTS.has(name));
  const holders = await readCreditHolders(database, moving);
  return lockCreditAlerts(database, [...new Set(holders.values())].sort());
}

/** The events that change what a wallet has in all. */
const BALANCE_EVENTS: ReadonlySet<EventName> = new Set([
  'JobSettled',
  'JobCompleted',
  'CreditWithdrawn',
  'CreditBought',
  'ClaimPaid',
]);

/** How an event leaves a wallet's balance. */
interface Balance {
  readonly wallet: string;
  readonly availableCredits: bigint;
  /** Available and locked: what is locked may come back. */
  readonly totalCredits: bigint;
  /** Whether credits left for good, and not only into a lock. */
  readonly hasSpent: boolean;
}

/** The balance after a folded event that changed what a wallet has in all; null for any other. */
async function balanceAfter(
  database: Database,
  { name, data }: LedgerEvent,
): Promise<Balance | null> {
  switch (name) {
    case 'JobSettled':
    case 'JobCompleted':
      return balance(data.wallet, data.availableCredits, data.accountLockedCredits, true);
    case 'CreditWithdrawn':
      return balance(data.wallet, data.availableCredits, data.lockedCredits, true);
    case 'CreditBought':
      return balance(data.wallet, data.availableCredits, data.lockedCredits, false);
    case 'ClaimPaid':
      return isOfCreditAccount(data) ? balanceAfterClaim(database, data) : null;
    default:
      return null;
  }
}

type Claim = EventOf<'ClaimPaid'>['data'];

/** Whether an upheld dispute was repaid, and not a worker or the treasury paid. */
function isOfCreditAccount({ claimantKind }: Claim): boolean {
  return claimantKind === 'credit_account';
}

/**
 * The event has neither the wallet nor what is locked. They are in an earlier event of the account.
 * The account's row may be further by now.
 */
async function balanceAfterClaim(
  database: Database,
  { claimant, claimantSequence, availableCredits }: Claim,
): Promise<Balance | null> {
  const { rows } = await database.query<{ wallet: string; locked_credits: string }>(
    `select data ->> 'wallet' as wallet,
       coalesce(data ->> 'accountLockedCredits', data ->> 'lockedCredits') as locked_credits
     from account_changes change
     join journal using (signature, instruction_index, inner_index)
     where change.address = $1 and change.sequence < $2 and folded
       and data ?| array['accountLockedCredits', 'lockedCredits']
     order by change.sequence desc limit 1`,
    [claimant, claimantSequence],
  );
  const [before] = rows;
  return before ? balance(before.wallet, availableCredits, before.locked_credits, false) : null;
}

function balance(wallet: string, available: string, locked: string, hasSpent: boolean): Balance {
  const availableCredits = BigInt(available);
  return { wallet, availableCredits, totalCredits: availableCredits + BigInt(locked), hasSpent };
}

/**
 * The credit accounts that events have changed, each with its wallet. An account's wallet never
 * changes, so it does not matter whether the tables still have the events.
 */
export async function readCreditHolders(
  database: Database,
  events: readonly LedgerEvent[],
): Promise<ReadonlyMap<string, string>> {
  const claimants = events.flatMap(({ name, data }) =>
    name === 'ClaimPaid' && isOfCreditAccount(data) ? data.claimant : [],
  );
  const stated = events.flatMap(({ data }) =>
    'creditAccount' in data ? [[data.creditAccount, data.wallet] as const] : [],
  );
  return new Map([...(await selectHolders(database, claimants)), ...stated]);
}

async function selectHolders(
  database: Database,
  creditAccounts: readonly string[],
): Promise<[creditAccount: string, wallet: string][]> {
  if (creditAccounts.length === 0) return [];
  const { rows } = await database.query<{ address: string; wallet: string }>(
    'select address, wallet from credit_accounts where address = any($1)',
    [creditAccounts],
  );
  return rows.map(({ address, wallet }) => [address, wallet]);
}

interface CreditAlert {
  /** Whether the alert has begun. It follows the events of one fold. */
  isLow: boolean;
  readonly thresholdCredits: bigint;
}

/**
 * An alert begins when credits that leave for good take a balance below the threshold. A balance at
 * or above the threshold arms it again, wherever it comes from.
 */
function isLowAfter({ totalCredits, hasSpent }: Balance, alert: CreditAlert): boolean {
  return totalCredits < alert.thresholdCredits && (alert.isLow || hasSpent);
}

/**
 * Follows a wallet's balance.
 *
 * @returns the threshold when an alert has just begun, else null
 */
async function moveCreditAlert(
  database: Database,
  balance: Balance,
  alert: CreditAlert,
): Promise<bigint | null> {
  const isLow = isLowAfter(balance, alert);
  if (isLow === alert.isLow) return null;
  alert.isLow = isLow;
  await updateCreditAlert(database, balance.wallet, isLow);
  return isLow ? alert.thresholdCredits : null;
}

/**
 * Recomputes an account's alert from its history without a transaction that vanished. What that
 * spent is back, and what it bought is gone. An alert that was sent as `credit.low` stays, or the
 * transaction that takes its place would send it again.
 *
 * @param vanished.floorSlot nothing up to it is announced, so it begins no alert
 */
export async function restoreCreditAlert(
  database: Database,
  { wallet, creditAccount }: { wallet: string; creditAccount: string },
  vanished: { signature: string; floorSlot: bigint },
): Promise<void> {
  const alert = (await selectCreditAlerts(database, [wallet])).get(wallet);
  if (!alert || (await wasAlerted(database, wallet, vanished.signature))) return;
  let isLow = false;
  for await (const events of selectAccountEvents(database, creditAccount)) {
    for (const event of events.filter(({ slot }) => slot > vanished.floorSlot)) {
      const balance = await balanceAfter(database, event);
      if (balance) isLow = isLowAfter(balance, { ...alert, isLow });
    }
  }
  await updateCreditAlert(database, wallet, isLow);
}

/** @param wallets sorted; those without a row get one, which no other transaction knows yet */
async function lockCreditAlerts(
  database: Database,
  wallets: readonly string[],
): Promise<Map<string, CreditAlert>> {
  if (wallets.length === 0) return new Map();
  const alerts = await selectCreditAlerts(database, wallets);
  if (alerts.size === wallets.length) return alerts;
  await database.query({
    name: 'insert_credit_alerts',
    text: `
      insert into service.credit_alerts (wallet)
      select unnest($1::text[]) on conflict do nothing`,
    values: [wallets.filter((wallet) => !alerts.has(wallet))],
  });
  return selectCreditAlerts(database, wallets);
}

async function selectCreditAlerts(
  database: Database,
  wallets: readonly string[],
): Promise<Map<string, CreditAlert>> {
  const { rows } = await database.query<CreditAlert & { wallet: string }>({
    name: 'lock_credit_alerts',
    text: `
      select wallet, is_low as "isLow", threshold_credits as "thresholdCredits"
      from service.credit_alerts where wallet = any($1) order by wallet collate "C" for update`,
    values: [wallets],
  });
  return new Map(rows.map((row) => [row.wallet, row]));
}

async function updateCreditAlert(
  database: Database,
  wallet: string,
  isLow: boolean,
): Promise<void> {
  await database.query({
    name: 'update_credit_alert',
    text: 'update service.credit_alerts set is_low = $2 where wallet = $1',
    values: [wallet, isLow],
  });
}

async function wasAlerted(database: Database, wallet: string, signature: string): Promise<boolean> {
  const { rowCount } = await database.query(
    `select from service.webhook_deliveries delivery
     join service.webhooks webhook on webhook.id = delivery.webhook_id
     where delivery.signature = $1 and delivery.event = 'credit.low' and webhook.wallet = $2
     limit 1`,
    [signature, wallet],
  );
  return rowCount === 1;
}
