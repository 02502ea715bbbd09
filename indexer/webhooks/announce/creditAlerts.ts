import type { Database } from '../../../runtime/postgres.ts';
import type { Balance } from './credits.ts';

/**
 * Follows a wallet's balance: an alert begins when credits that leave for good take it below the
 * threshold, and a balance at or above the threshold arms it again, wherever it comes from.
 *
 * @returns the threshold when an alert has just begun, else null
 */
export async function moveCreditAlert(
  database: Database,
  { wallet, totalCredits, hasSpent }: Balance,
): Promise<bigint | null> {
  await database.query({
    name: 'insert_credit_alert',
    text: 'insert into service.credit_alerts (wallet) values ($1) on conflict do nothing',
    values: [wallet],
  });
  const { rows } = await database.query<{ is_low: boolean; threshold_credits: bigint }>({
    name: 'move_credit_alert',
    text: `
      update service.credit_alerts set is_low = not is_low
      where wallet = $1
        and is_low <> ($2::numeric < threshold_credits and (is_low or $3))
      returning is_low, threshold_credits`,
    values: [wallet, totalCredits, hasSpent],
  });
  return rows[0]?.is_low ? rows[0].threshold_credits : null;
}

/**
 * Arms the alerts that a vanished transaction had begun, for what it spent is back. Not one that was
 * sent: the transaction that takes its place would tell the same again.
 */
export async function armCreditAlerts(
  database: Database,
  vanished: { signature: string; wallets: readonly string[] },
): Promise<void> {
  await database.query(
    `update service.credit_alerts alert set is_low = false
     from credit_accounts account
     where alert.wallet = any($2) and account.wallet = alert.wallet
       and account.available_credits + account.locked_credits >= alert.threshold_credits
       and not exists (
         select from service.webhook_deliveries delivery
         join service.webhooks webhook on webhook.id = delivery.webhook_id
         where delivery.signature = $1 and delivery.event = 'credit.low'
           and webhook.wallet = alert.wallet
       )`,
    [vanished.signature, vanished.wallets],
  );
}
