import type pg from 'pg';
import type { Logger } from '../../../common/logger.ts';
import type { GuardedAgents } from '../../../common/net/addressGuard.ts';
import { batchedIsolated, type Database, inTransaction } from '../../../common/postgres.ts';
import { type Sealing, SealingError } from '../../../common/sealing.ts';
import { deliveryHeaders, type SigningSecrets } from '../../../webhooks/signature.ts';
import type { AttemptId } from './claim.ts';
import {
  concludeDelivered,
  concludeFailed,
  type EndedAttempt,
  settleUnstarted,
} from './conclude.ts';
import { type AttemptResult, EXCHANGE_MS_MAX, exchange } from './exchange.ts';

/** Makes one attempt, and stores its result. @throws what the database throws */
export type MakeAttempt = (id: AttemptId) => Promise<void>;

/**
 * @param options.exchangeMs after which a receiver that has not answered has failed
 * @param options.onAttempt called with the result of every attempt that was made
 */
export function createMakeAttempt(options: {
  pool: pg.Pool;
  sealing: Pick<Sealing, 'open'>;
  agents: GuardedAgents;
  logger: Logger;
  onAttempt: (result: AttemptResult) => void;
  exchangeMs?: number;
}): MakeAttempt {
  const { pool, sealing, agents, logger, onAttempt } = options;
  const { exchangeMs = EXCHANGE_MS_MAX } = options;
  const start = batchedIsolated((ids: readonly AttemptId[]) => startAttempts(pool, ids));
  const storeDelivered = batchedIsolated((ended: readonly EndedAttempt[]) =>
    concludeDelivered(pool, ended),
  );

  async function post(started: StartedAttempt): Promise<AttemptResult> {
    const { url, eventId, body, attempt } = started;
    const secrets = openSecrets(sealing, started);
    if (!secrets) {
      return { error: 'secret_unreadable', statusCode: null, response: null, durationMs: 0 };
    }
    const headers = deliveryHeaders({ secrets, eventId, body, attempt, nowMs: Date.now() });
    return exchange(agents, { url, headers, body }, exchangeMs);
  }

  async function conclude(id: AttemptId, result: AttemptResult): Promise<void> {
    if (result.error === null) return storeDelivered({ id, result });
    await inTransaction(pool, (client) => concludeFailed(client, { id, result, endedAt: null }));
  }

  return async (id) => {
    const started = await start(id);
    if (!started) {
      const result = await inTransaction(pool, (client) => settleUnstarted(client, id));
      if (result) onAttempt(result);
      return;
    }
    const result = await post(started);
    await conclude(id, result);
    onAttempt(result);
    const { webhookId: webhook_id, eventId: event_id } = started;
    const { error, statusCode: status, durationMs: duration_ms } = result;
    const fields = { webhook_id, event_id, attempt: id.attempt, status, duration_ms };
    if (error === null) logger.info({ msg: 'Delivered an event', ...fields });
    else logger[levelOf(error)]({ msg: 'Failed to deliver an event', ...fields, reason: error });
  };
}

/** All that an attempt needs. */
interface StartedAttempt extends AttemptId {
  readonly webhookId: string;
  readonly url: string;
  readonly eventId: string;
  readonly body: string;
  /** Sealed. */
  readonly secret: Uint8Array;
  /** Sealed; null unless a rotation overlaps. */
  readonly previousSecret: Uint8Array | null;
}

/**
 * Counts attempts before they are made, so that one whose process dies is counted too.
 *
 * @returns for each, null when it is not to be made now. The event was delivered, given up or taken
 *   back, the attempt was made before, another one runs, or the webhook gets nothing now
 */
async function startAttempts(
  database: Database,
  ids: readonly AttemptId[],
): Promise<(StartedAttempt | null)[]> {
  const { rows } = await database.query<StartedAttempt>({
    name: 'start_attempts',
    text: `
      with free as (
        select delivery.id, given.attempt
        from unnest($1::bigint[], $2::int[]) as given (id, attempt)
        join service.webhook_deliveries delivery on delivery.id = given.id
        where delivery.status = 'pending' and attempts = given.attempt - 1
        -- Another transaction that marks many as undelivered may wait for what this has locked.
        for no key update of delivery skip locked
      ), counted as (
        update service.webhook_deliveries delivery set attempts = free.attempt
        from free cross join service.webhooks webhook
        where delivery.id = free.id and webhook.id = delivery.webhook_id
          and (webhook.status = 'active' or (webhook.status = 'failed' and delivery.is_requested))
          and not exists (
            select from service.webhook_attempts running
            where running.delivery_id = delivery.id and duration_ms is null and error is null
          )
        returning delivery.id as "deliveryId", attempts as attempt, webhook_id as "webhookId", url,
          event_id as "eventId", body, secret,
          case when previous_secret_until > now() then previous_secret end as "previousSecret"
      ), started as (
        insert into service.webhook_attempts (delivery_id, attempt, url)
        select "deliveryId", attempt, url from counted
      )
      select * from counted`,
    values: [ids.map(({ deliveryId }) => deliveryId), ids.map(({ attempt }) => attempt)],
  });
  const started = new Map(rows.map((row) => [row.deliveryId, row]));
  return ids.map(({ deliveryId }) => started.get(deliveryId) ?? null);
}

/** @returns undefined when the secret cannot be read */
function openSecrets(
  sealing: Pick<Sealing, 'open'>,
  { secret, previousSecret }: StartedAttempt,
): SigningSecrets | undefined {
  try {
    return {
      current: sealing.open(secret),
      ...(previousSecret && { previous: sealing.open(previousSecret) }),
    };
  } catch (error) {
    if (!(error instanceof SealingError)) throw error;
    return undefined;
  }
}

/** A receiver's failure is its owner's matter. Ours needs an operator. */
function levelOf(error: NonNullable<AttemptResult['error']>): 'error' | 'info' {
  return error === 'secret_unreadable' ? 'error' : 'info';
}
