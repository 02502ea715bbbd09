import type { CreateWebhookRequest, Webhook } from 'helius-sdk/types/webhooks';
import type { WebhookClient } from 'helius-sdk/webhooks/client';

/** What a check had to do. */
export type WebhookCheck = 'kept' | 'created' | 'corrected' | 'enabled' | 'replaced';

/** The webhook as it must be at Helius. */
export type WantedWebhook = CreateWebhookRequest & { webhookType: string; authHeader: string };

/**
 * Makes sure that Helius has exactly one webhook for our URL, that it is as wanted, and that it is
 * on: Helius turns off one whose endpoint fails too often. Webhooks of other URLs are not touched.
 *
 * @param options.isSilent one that is as wanted and says nothing all the same is made anew
 * @throws Error when Helius cannot be asked or refuses; the next check goes on from what it finds
 */
export async function ensureWebhook(
  helius: WebhookClient,
  wanted: WantedWebhook,
  { isSilent }: { isSilent: boolean },
): Promise<WebhookCheck> {
  const all = await helius.getAll();
  const [kept, ...surplus] = all.filter(({ webhookURL }) => webhookURL === wanted.webhookURL);
  if (!kept) {
    await helius.create(wanted);
    return 'created';
  }
  const { webhookID } = kept;
  const isAsWanted = matches(kept, wanted);
  if (!isAsWanted) await helius.update(webhookID, wanted);
  if (kept.active === false) await helius.toggle(webhookID, true);
  for (const other of surplus) await helius.delete(other.webhookID);
  if (!isAsWanted || surplus.length > 0) return 'corrected';
  if (kept.active === false) return 'enabled';
  if (!isSilent) return 'kept';
  await helius.delete(webhookID);
  await helius.create(wanted);
  return 'replaced';
}

/** Types of transactions are not compared: a raw webhook does not filter by them. */
function matches(webhook: Webhook, wanted: WantedWebhook): boolean {
  return (
    webhook.webhookType === wanted.webhookType &&
    webhook.authHeader === wanted.authHeader &&
    [...webhook.accountAddresses].sort().join() === [...wanted.accountAddresses].sort().join()
  );
}
