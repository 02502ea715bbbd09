import type pg from 'pg';
import type { Budget } from '../../webhookOperations/budget.ts';
import {
  type AttemptRow,
  type DeliverySummary,
  listDeliveries,
  readDelivery,
} from '../../webhookOperations/deliveries.ts';
import { resendDeliveries } from '../../webhookOperations/replays.ts';
import { plainHeaders } from '../../webhooks/signature.ts';
import { asApiError } from '../account/refusals.ts';
import type { Delivery, DeliveryFilter, deliveryRoutes } from '../contracts/delivery.ts';
import { parseRequest, rowId } from '../contracts/values.ts';
import type { Session } from '../sessions/sessions.ts';
import { pageOf } from '../views/page.ts';
import type { Handlers } from './serveRoutes.ts';

/** The deliveries of all webhooks of the wallet. */
export function deliveryHandlers({
  pool,
  budget,
}: {
  pool: pg.Pool;
  /** Of deliveries that owners ask for. */
  budget: Budget;
}): Handlers<typeof deliveryRoutes> {
  return {
    async getDeliveries({ session, query: { limit, before, ...filter } }) {
      const range = { limit: limit + 1, before };
      const rows = await listDeliveries(pool, chosen(session, filter), range);
      const { page, ...more } = pageOf(rows, limit, ({ id }) => String(id));
      return { object: 'list', data: page.map(deliveryView), ...more };
    },
    async getDelivery({ session: { wallet }, params }) {
      const deliveryId = parseRequest(rowId, params.delivery_id);
      const read = readDelivery(pool, { wallet, deliveryId });
      const { delivery, body, attempts } = await asApiError(read);
      const attempts_made = attempts.map((row) => ({
        ...attemptView(row),
        headers: plainHeaders(delivery.event_id, row.attempt),
      }));
      return { ...deliveryView(delivery), body, attempts_made };
    },
    async replayDeliveries({ session, body: { delivery_ids: ids, matching = {} } }) {
      const filter = { ...chosen(session, matching), ids };
      const resent = await asApiError(resendDeliveries(pool, filter, budget));
      const { retryAfterSeconds: retry_after, ...counts } = resent;
      return { ...counts, retry_after };
    },
  };
}

/** All that is asked for, of the session's wallet alone. */
function chosen({ wallet }: Session, filter: DeliveryFilter) {
  const { webhook: id = null, status: statuses, event, since, until } = filter;
  const { event_id: eventId, job_id: jobId } = filter;
  return { webhook: { id, wallet }, statuses, event, eventId, jobId, since, until };
}

function deliveryView(row: DeliverySummary): Delivery {
  const { attempts: attempt, started_at, url } = row;
  return {
    id: String(row.id),
    webhook_id: row.webhook_id,
    event_id: row.event_id,
    event: row.event as Delivery['event'],
    job_id: row.job_id,
    created_at: row.created_at.toISOString(),
    status: row.status,
    attempts: row.attempts,
    due_at: row.due_at?.toISOString() ?? null,
    delivered_at: row.delivered_at?.toISOString() ?? null,
    tx: row.signature,
    last_attempt: started_at && url ? attemptView({ ...row, attempt, started_at, url }) : null,
  };
}

function attemptView(row: AttemptRow): NonNullable<Delivery['last_attempt']> {
  const { attempt, url, duration_ms, status_code, error, response } = row;
  const started_at = row.started_at.toISOString();
  return { attempt, started_at, url, duration_ms, status_code, error, response };
}
