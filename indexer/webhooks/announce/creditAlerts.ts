import type { Database } from '../../../common/postgres.ts';
import { selectAccountEvents } from '../../statements/selectAccountEvents.ts';
import { type Balance, balanceAfter } from './balance.ts';

interface CreditAlert {
  readonly is_low: boolean;
  readonly threshold_credits: bigint;
}

/**
 * An alert begins when credits that leave for good take a balance below the threshold, and a
 * balance at or above the threshold arms it again, wherever it comes from.
 */
function isLowAfter({ totalCredits, hasSpent }: Balance, alert: CreditAlert): boolean {
  return totalCredits < alert.threshold_credits && (alert.is_low || hasSpent);
}

/**
 * Follows a wallet's balance.
 *
 * @returns the threshold when an alert has just begun, else null
 */
export async function moveCreditAlert(
  database: Database,
  balance: Balance,
): Promise<bigint | null> {
  const { wallet } = balance;
  const inserting = database.query({
    name: 'insert_credit_alert',
    text: 'insert into service.credit_alerts (wallet) values ($1) on conflict do nothing',
    values: [wallet],
  });
  const [alert] = await Promise.all([lockCreditAlert(database, wallet), inserting]);
  if (!alert) return null;
  const isLow = isLowAfter(balance, alert);
  if (isLow === alert.is_low) return null;
  await updateCreditAlert(database, wallet, isLow);
  return isLow ? alert.threshold_credits : null;
}

/**
 * Makes an account's alert what follows from its history without a transaction that vanished: what
 * that spent is back, and what it bought is gone. Not where it was sent as `credit.low`: the
 * transaction that takes its place would tell the same again.
 *
 * @param floorSlot nothing up to it is announced, so it begins no alert
 */
export async function restoreCreditAlert(
  database: Database,
  { wallet, creditAccount }: { wallet: string; creditAccount: string },
  vanished: { signature: string; floorSlot: bigint },
): Promise<void> {
  const alert = await lockCreditAlert(database, wallet);
  if (!alert || (await wasAlerted(database, wallet, vanished.signature))) return;
  let isLow = false;
  for await (const events of selectAccountEvents(database, creditAccount)) {
    for (const event of events.filter(({ slot }) => slot > vanished.floorSlot)) {
      const balance = await balanceAfter(database, event);
      if (balance) isLow = isLowAfter(balance, { ...alert, is_low: isLow });
    }
  }
  await updateCreditAlert(database, wallet, isLow);
}

async function lockCreditAlert(
  database: Database,
  wallet: string,
): Promise<CreditAlert | undefined> {
  const { rows } = await database.query<CreditAlert>({
    name: 'lock_credit_alert',
    text: `
      select is_low, threshold_credits from service.credit_alerts
      where wallet = $1 for update`,
    values: [wallet],
  });
  return rows[0];
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
