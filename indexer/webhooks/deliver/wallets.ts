import type { Db } from 'pg-boss';

/** @returns the ids of all webhooks of the wallets */
export async function selectWebhooksOf(
  database: Db,
  wallets: readonly string[],
): Promise<string[]> {
  if (wallets.length === 0) return [];
  const { rows } = await database.executeSql(
    'select id from service.webhooks where wallet = any($1)',
    [wallets],
  );
  return (rows as { id: string }[]).map(({ id }) => id);
}

/** @returns the wallet of each webhook that was not deleted, by the webhook's id */
export async function selectWallets(
  database: Db,
  webhookIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (webhookIds.length === 0) return new Map();
  const { rows } = await database.executeSql(
    'select id, wallet from service.webhooks where id = any($1)',
    [webhookIds],
  );
  return new Map((rows as { id: string; wallet: string }[]).map(({ id, wallet }) => [id, wallet]));
}
