import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import {
  AddressRefusedError,
  assertNameAllowed,
  assertUrlAllowed,
  type ResolveName,
} from '../../common/net/addressGuard.ts';
import { normalizeUrl } from '../../common/net/urls.ts';
import { inTransaction } from '../../common/postgres.ts';
import type { Sealing } from '../../common/sealing.ts';
import { API_VERSION } from '../../webhooks/events.ts';
import { generateSecret } from '../../webhooks/signature.ts';
import type { WebhookRequest } from '../contracts/account.ts';
import { ApiError } from '../contracts/errors.ts';
import {
  deleteDeliveries,
  deleteWebhook,
  disableWebhook,
  insertWebhook,
  lockWebhooks,
  selectWebhooks,
  type WebhookRow,
} from '../sql/accounts.ts';

/** A wallet's webhooks. The caller has checked that the wallet is the client's. */
export interface Webhooks {
  /**
   * @returns the webhook; with its secret where we made it, which is not shown again
   * @throws ApiError for an address we will not call, the same webhook again, or one too many
   */
  create(
    wallet: string,
    request: WebhookRequest,
  ): Promise<{ webhook: WebhookRow; madeSecret?: string }>;
  /** Newest first. */
  list(wallet: string): Promise<WebhookRow[]>;
  /** @throws ApiError `webhook_not_found` */
  remove(wallet: string, id: string): Promise<void>;
}

const WEBHOOKS_PER_WALLET_MAX = 20;
const WEBHOOK_ID = /^wh_[0-9a-f]{32}$/;

/** @param options.sealing keeps the secrets, which the delivering process opens */
export function createWebhooks(options: {
  pool: pg.Pool;
  sealing: Pick<Sealing, 'seal'>;
  resolve: ResolveName;
  allowLoopback: boolean;
}): Webhooks {
  const { pool, sealing, resolve, allowLoopback } = options;

  async function assertCallable(text: string): Promise<void> {
    try {
      const url = new URL(text);
      assertUrlAllowed(url, allowLoopback);
      await assertNameAllowed(url, { allowLoopback, resolve });
    } catch (error) {
      if (!(error instanceof AddressRefusedError)) throw error;
      throw new ApiError('invalid_request', `Invalid value for 'url': ${error.message}.`, {
        param: 'url',
        cause: error,
      });
    }
  }

  return {
    async create(wallet, { url, events, secret }) {
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
      const row = await inTransaction(pool, async (client) => {
        await lockWebhooks(client, wallet);
        assertAddable(await selectWebhooks(client, wallet), webhook);
        return insertWebhook(client, webhook);
      });
      return { webhook: row, ...(secret ? {} : { madeSecret: signingSecret }) };
    },
    list: (wallet) => selectWebhooks(pool, wallet),
    async remove(wallet, id) {
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

function assertAddable(present: WebhookRow[], wanted: Pick<WebhookRow, 'url' | 'events'>): void {
  const same = present.find(
    // Those of an earlier release are as they were given.
    ({ url, events }) => normalizeUrl(url) === wanted.url && events.join() === wanted.events.join(),
  );
  if (same) {
    throw new ApiError('duplicate_webhook', 'A webhook with this url and these events exists.', {
      details: { webhook_id: same.id },
    });
  }
  if (present.length >= WEBHOOKS_PER_WALLET_MAX) {
    throw new ApiError(
      'invalid_request',
      `A wallet has at most ${WEBHOOKS_PER_WALLET_MAX} webhooks; delete one first.`,
      { details: { limit: WEBHOOKS_PER_WALLET_MAX } },
    );
  }
}
