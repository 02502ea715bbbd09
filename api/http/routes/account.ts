import type { RequestHandler } from 'express';
import { creditsNumber, isoTime, usdcValue } from '../../../common/format.ts';
import type { Database } from '../../../common/postgres.ts';
import type { Webhooks } from '../../account/webhooks.ts';
import {
  type AccountObject,
  type CreatedWebhook,
  type DeletedWebhook,
  type WebhookList,
  webhookRequest,
  webhookView,
} from '../../contracts/account.ts';
import { parseRequest } from '../../contracts/values.ts';
import { selectBalance } from '../../sql/accounts.ts';
import { authenticated } from '../middleware/authentication.ts';

/** GET /v1/account: the balance that the key spends from; credits are those available, not locked. */
export function getAccount(options: {
  database: Database;
  nowSeconds: () => bigint;
}): RequestHandler {
  const { database, nowSeconds } = options;
  return async (_request, response) => {
    const { wallet, created_at } = authenticated(response);
    const account = await selectBalance(database, { wallet, nowSeconds: nowSeconds() });
    const credits = account?.available_credits ?? 0n;
    const toppedUpAt = account?.last_topup_at ?? null;
    response.json({
      wallet,
      credits_remaining: creditsNumber(credits),
      usdc_value: usdcValue(credits),
      last_topup_at: toppedUpAt === null ? null : isoTime(toppedUpAt),
      api_key_created_at: created_at.toISOString(),
      charged_today_credits: creditsNumber(account?.charged_today_credits ?? 0n),
      locked_now_credits: creditsNumber(account?.locked_credits ?? 0n),
      limits: {
        per_job_credits: limitView(account?.limit_per_job_credits),
        per_day_credits: limitView(account?.limit_per_day_credits),
      },
    } satisfies AccountObject);
  };
}

/** A limit beyond what JSON can carry, as the absent one, is above every balance. */
function limitView(credits: bigint | undefined): number | null {
  const isLimit = credits !== undefined && credits <= BigInt(Number.MAX_SAFE_INTEGER);
  return isLimit ? creditsNumber(credits) : null;
}

/** POST /v1/webhooks: the only answer that ever shows a secret, and only one that we made. */
export function postWebhook({ webhooks }: { webhooks: Webhooks }): RequestHandler {
  return async (request, response) => {
    const { wallet } = authenticated(response);
    const wanted = parseRequest(webhookRequest, request.body);
    const { webhook, madeSecret } = await webhooks.create(wallet, wanted);
    const secret = madeSecret && { secret: madeSecret };
    response.json({ ...webhookView(webhook), ...secret } satisfies CreatedWebhook);
  };
}

/** GET /v1/webhooks: all of the wallet's, newest first. */
export function getWebhooks({ webhooks }: { webhooks: Webhooks }): RequestHandler {
  return async (_request, response) => {
    const rows = await webhooks.list(authenticated(response).wallet);
    response.json({ object: 'list', data: rows.map(webhookView) } satisfies WebhookList);
  };
}

/** DELETE /v1/webhooks/{webhook_id}: nothing more is sent, except deliveries that have begun. */
export function deleteWebhook(options: {
  webhooks: Webhooks;
}): RequestHandler<{ webhook_id: string }> {
  return async (request, response) => {
    const id = request.params.webhook_id;
    await options.webhooks.remove(authenticated(response).wallet, id);
    response.json({ id, object: 'webhook', deleted: true } satisfies DeletedWebhook);
  };
}
