import type pg from 'pg';
import { batchedIsolated } from '../../../common/database/batched.ts';
import type { Logger } from '../../../common/logger.ts';
import type { GuardedAgents } from '../../../common/net/addressGuard.ts';
import { type Database, inTransaction } from '../../../common/postgres.ts';
import { type Sealing, SealingError } from '../../../common/sealing.ts';
import { deliveryHeaders, type SigningSecrets } from '../../../webhooks/signature.ts';
import {
  concludeAttempt,
  concludeDelivered,
  type EndedAttempt,
  settleUnclaimed,
} from './conclude.ts';
import { EXCHANGE_MS_MAX, exchange, type Outcome } from './exchange.ts';
import type { AttemptJob } from './take.ts';

/** All that an attempt needs. */
interface ClaimedAttempt extends AttemptJob {
  readonly webhookId: string;
  readonly url: string;
  readonly eventId: string;
  readonly body: string;
  /** Sealed. */
  readonly secret: Uint8Array;
  /** Sealed; null but while a rotation overlaps. */
  readonly previousSecret: Uint8Array | null;
}

/**
 * Counts attempts before they are made, so that a process that dies in one does not take it back.
 *
 * @returns for each, null when it is not to be made now: the event was delivered, given up or taken
 *   back, the attempt was made before or another is under way, or the webhook is gone, is disabled,
 *   or has failed and its owner has not asked for this
 */
async function claimAttempts(
  database: Database,
  jobs: readonly AttemptJob[],
): Promise<(ClaimedAttempt | null)[]> {
  const { rows } = await database.query<{
    id: bigint;
    webhook_id: string;
    url: string;
    event_id: string;
    body: string;
    secret: Buffer;
    previous_secret: Buffer | null;
  }>({
    name: 'claim_attempts',
    text: `
      with free as (
        select delivery.id, given.attempt
        from unnest($1::bigint[], $2::int[]) as given (id, attempt)
        join service.webhook_deliveries delivery on delivery.id = given.id
        where delivery.status = 'pending' and attempts = given.attempt - 1
        -- Somebody who sets many aside may wait for what this has locked.
        for no key update of delivery skip locked
      ), claimed as (
        update service.webhook_deliveries delivery set attempts = free.attempt
        from free cross join service.webhooks webhook
        where delivery.id = free.id and webhook.id = delivery.webhook_id
          and (webhook.status = 'active' or (webhook.status = 'failed' and delivery.is_requested))
          and not exists (
            select from service.webhook_attempts under_way
            where under_way.delivery_id = delivery.id and duration_ms is null and error is null
          )
        returning delivery.id, attempts, webhook_id, url, event_id, body, secret,
          case when previous_secret_until > now() then previous_secret end as previous_secret
      ), begun as (
        insert into service.webhook_attempts (delivery_id, attempt) select id, attempts from claimed
      )
      select * from claimed`,
    values: [jobs.map(({ deliveryId }) => deliveryId), jobs.map(({ attempt }) => attempt)],
  });
  const claimed = new Map(rows.map((row) => [row.id, row]));
  return jobs.map((job) => {
    const row = claimed.get(job.deliveryId);
    if (!row) return null;
    return {
      ...job,
      webhookId: row.webhook_id,
      url: row.url,
      eventId: row.event_id,
      body: row.body,
      secret: row.secret,
      previousSecret: row.previous_secret,
    };
  });
}

/** Makes one attempt, and writes down how it went. @throws what the database throws */
export type MakeAttempt = (job: AttemptJob) => Promise<void>;

/**
 * @param options.exchangeMs after which a receiver that has not answered has failed
 * @param options.onAttempt told of every attempt that was made
 */
export function createMakeAttempt(options: {
  pool: pg.Pool;
  sealing: Pick<Sealing, 'open'>;
  agents: GuardedAgents;
  logger: Logger;
  onAttempt: (outcome: Outcome) => void;
  exchangeMs?: number;
}): MakeAttempt {
  const { pool, sealing, agents, logger, onAttempt } = options;
  const { exchangeMs = EXCHANGE_MS_MAX } = options;

  /** @returns undefined when the secret cannot be read */
  function openSecrets({ secret, previousSecret }: ClaimedAttempt): SigningSecrets | undefined {
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

  async function post(claimed: ClaimedAttempt): Promise<Outcome> {
    const { url, eventId, body, attempt } = claimed;
    const secrets = openSecrets(claimed);
    if (!secrets) {
      return { error: 'secret_unreadable', statusCode: null, response: null, durationMs: 0 };
    }
    const headers = deliveryHeaders({ secrets, eventId, body, attempt, nowMs: Date.now() });
    return exchange(agents, { url, headers, body }, exchangeMs);
  }

  const claim = batchedIsolated((jobs: readonly AttemptJob[]) => claimAttempts(pool, jobs));
  const noteDelivered = batchedIsolated((ended: readonly EndedAttempt[]) =>
    concludeDelivered(pool, ended),
  );

  async function conclude(job: AttemptJob, outcome: Outcome): Promise<void> {
    if (outcome.error === null) return noteDelivered({ job, outcome });
    await inTransaction(pool, (client) => concludeAttempt(client, { job, outcome, endedAt: null }));
  }

  return async (job) => {
    const claimed = await claim(job);
    if (!claimed) {
      const outcome = await inTransaction(pool, (client) => settleUnclaimed(client, job));
      if (outcome) onAttempt(outcome);
      return;
    }
    const outcome = await post(claimed);
    await conclude(job, outcome);
    onAttempt(outcome);
    const { webhookId: webhook_id, eventId: event_id } = claimed;
    const { error, statusCode: status, durationMs: duration_ms } = outcome;
    const fields = { webhook_id, event_id, attempt: job.attempt, status, duration_ms };
    if (error === null) logger.info({ msg: 'Delivered an event', ...fields });
    else logger[levelOf(error)]({ msg: 'Failed to deliver an event', ...fields, reason: error });
  };
}

/** What a receiver fails at is its owner's affair; what we fail at needs a person of ours. */
function levelOf(error: NonNullable<Outcome['error']>): 'error' | 'info' {
  return error === 'secret_unreadable' ? 'error' : 'info';
}
