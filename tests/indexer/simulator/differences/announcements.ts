import type { Database } from '../../../../common/postgres.ts';

/** An event for one webhook. */
export interface Delivery {
  /** Webhook and event. */
  readonly key: string;
  /** Whose webhook it is. */
  readonly wallet: string;
  readonly kind: string;
  readonly signature: string;
  readonly body: string;
  readonly isSent: boolean;
}

export async function selectDeliveries(database: Database): Promise<Delivery[]> {
  const { rows } = await database.query<Delivery>(
    `select webhook_id || ' ' || event_id as key, wallet, event as kind, signature, body,
       attempts > 0 as "isSent"
     from service.webhook_deliveries delivery
     join service.webhooks webhook on webhook.id = webhook_id
     order by delivery.id`,
  );
  return rows;
}

/**
 * What webhooks are promised, as far as possible: each event of the surviving ledger, once and as it
 * is there, and nothing else. (A webhook cannot have an event twice: a key is unique.) What was sent
 * cannot be taken back, and only that is excused, where events go out before they are final:
 *
 * - an event that was sent from an abandoned fork stays as it was there. Its transaction may have
 *   landed again in another slot, upon other balances, or have never come back;
 * - a webhook that was sent `credit.low` from an abandoned fork does not get it again. Another
 *   transaction may have taken the balance down in its place.
 *
 * @param awaitsFinality whether events wait until they are final: then nothing is excused
 */
export function compareAnnouncements(
  announced: readonly Delivery[],
  due: readonly Delivery[],
  awaitsFinality: boolean,
): string[] {
  const isKept = ({ isSent }: Delivery) => isSent && !awaitsFinality;
  const dueByKey = new Map(due.map((delivery) => [delivery.key, delivery]));
  const announcedKeys = new Set(announced.map(({ key }) => key));
  const unfounded = announced.filter(({ key }) => !dueByKey.has(key));
  const alerted = new Set(
    unfounded
      .filter((delivery) => isKept(delivery) && delivery.kind === 'credit.low')
      .map(({ wallet }) => wallet),
  );
  const isExcused = ({ kind, wallet }: Delivery) => kind === 'credit.low' && alerted.has(wallet);
  const lost = due.filter((delivery) => !announcedKeys.has(delivery.key) && !isExcused(delivery));
  const madeUp = unfounded.filter((delivery) => !isKept(delivery) && !isExcused(delivery));
  const changed = announced.filter((delivery) => {
    const body = dueByKey.get(delivery.key)?.body;
    return body !== undefined && body !== delivery.body && !isKept(delivery);
  });
  return [
    ...lost.map(({ body }) => `lost ${body}`),
    ...madeUp.map(({ body }) => `made up ${body}`),
    ...changed.map(({ key, body }) => `sent ${body} for ${dueByKey.get(key)?.body}`),
  ];
}
