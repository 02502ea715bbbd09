import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import {
  AddressRefusedError,
  assertAddressAllowed,
  type ResolveName,
} from '../../common/net/addressGuard.ts';
import { inTransaction } from '../../common/postgres.ts';
import type { Sealing } from '../../common/sealing.ts';
import type { Budget } from '../../webhookOperations/budget.ts';
import {
  assertUnique,
  editWebhook,
  lockWebhooks,
  type WebhookChange,
} from '../../webhookOperations/editWebhook.ts';
import { API_VERSION } from '../../webhooks/events.ts';
import { generateSecret } from '../../webhooks/signature.ts';
import { ApiError } from '../contracts/errors.ts';
import type { WebhookRequest } from '../contracts/webhook.ts';
import {
  deleteDeliveries,
  deleteWebhook,
  disableWebhook,
  insertWebhook,
  selectWebhooks,
  type WebhookRow,
} from '../sql/accounts.ts';
import { asApiError } from './refusals.ts';

const WEBHOOKS_PER_WALLET_MAX = 20;
const WEBHOOK_ID = /^wh_[0-9a-f]{32}$/;

export type Webhooks = ReturnType<typeof createWebhooks>;

/**
 * A wallet's webhooks. The caller has checked that the wallet is the client's.
 *
 * @param options.sealing keeps the secrets, which the delivering process opens
 */
export function createWebhooks(options: {
  pool: pg.Pool;
  sealing: Pick<Sealing, 'seal'>;
  resolve: ResolveName;
  allowLoopback: boolean;
}) {
  const { pool, sealing, resolve, allowLoopback } = options;

  async function assertCallable(text: string): Promise<void> {
    try {
      await assertAddressAllowed(new URL(text), { allowLoopback, resolve });
    } catch (error) {
      if (!(error instanceof AddressRefusedError)) throw error;
      throw new ApiError('invalid_request', `Invalid value for 'url': ${error.message}.`, {
        param: 'url',
        cause: error,
      });
    }
  }

  return {
    /**
     * @returns the webhook; with its secret where we made it, which is not shown again
     * @throws ApiError for an address we will not call, the same webhook again, or one too many
     */
    async create(
      wallet: string,
      { url, events, secret }: WebhookRequest,
    ): Promise<{ webhook: WebhookRow; madeSecret?: string }> {
      await assertCallable(url);
      const signingSecret = secret ?? generateSecret();
      const webhook = {
        wallet,
        url,
        id: `wh_${randomUUID().replaceAll('-', '')}`,
        events: events.toSorted(),
        apiVersion: API_VERSION,
        sealedSecret: sealing.seal(signingSecret),
      };
      const inserting = inTransaction(pool, async (client) => {
        await lockWebhooks(client, wallet);
        const present = await selectWebhooks(client, wallet);
        assertUnique(present, webhook);
        assertFewer(present);
        return insertWebhook(client, webhook);
      });
      const row = await asApiError(inserting);
      return { webhook: row, ...(secret ? {} : { madeSecret: signingSecret }) };
    },
    /**
     * Changes where a webhook's events go, or which ones, as `editWebhook` does.
     *
     * @param budget of what was requested for the webhook and goes to another host now
     * @throws ApiError as `create`, or `webhook_not_found`
     */
    async edit(wallet: string, id: string, change: WebhookChange, budget: Budget): Promise<void> {
      if (change.url !== undefined) await assertCallable(change.url);
      await asApiError(editWebhook(pool, { id, wallet }, change, budget));
    },
    /** Newest first. */
    list: (wallet: string): Promise<WebhookRow[]> => selectWebhooks(pool, wallet),
    /** @throws ApiError `webhook_not_found` */
    async remove(wallet: string, id: string): Promise<void> {
      const isRemoved = WEBHOOK_ID.test(id) && (await removeWebhook(pool, { wallet, id }));
      if (isRemoved) return;
      throw new ApiError('webhook_not_found', 'The wallet of this key has no such webhook.');
    },
  };
}

/**
 * A month of deliveries takes long to delete, and the indexer would wait while the webhook's row is
 * being deleted. So the deliveries go first, a bounded number at a time. A process that dies in
 * between leaves a disabled webhook, which can be deleted again.
 */
async function removeWebhook(pool: pg.Pool, key: { wallet: string; id: string }): Promise<boolean> {
  const deleteSome = () =>
    inTransaction(
      pool,
      async (client) => (await disableWebhook(client, key)) && deleteDeliveries(client, key.id),
    );
  for (let hasMore = true; hasMore; ) hasMore = await deleteSome();
  return deleteWebhook(pool, key);
}

function assertFewer({ length }: readonly WebhookRow[]): void {
  if (length < WEBHOOKS_PER_WALLET_MAX) return;
  throw new ApiError(
    'invalid_request',
    `A wallet has at most ${WEBHOOKS_PER_WALLET_MAX} webhooks; delete one first.`,
    { details: { limit: WEBHOOKS_PER_WALLET_MAX } },
  );
}
