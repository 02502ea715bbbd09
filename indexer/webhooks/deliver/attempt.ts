import type pg from 'pg';
import type { Dispatcher } from 'undici';
import type { Logger } from '../../../common/logger.ts';
import { inTransaction } from '../../../common/postgres.ts';
import { type Sealing, SealingError } from '../../../common/sealing.ts';
import { type SigningSecrets, webhookHeaders } from '../../../webhooks/signature.ts';
import { type ClaimedAttempt, claimAttempt } from './claimAttempt.ts';
import { concludeAttempt } from './concludeAttempt.ts';
import { exchange } from './exchange.ts';
import type { Outcome } from './outcome.ts';
import type { AttemptJob, DeliveryQueue } from './queue.ts';
import { settleUnclaimed } from './settleUnclaimed.ts';

const USER_AGENT = 'svc-webhooks';

/** Makes one attempt, and writes down how it went. @throws what the database throws */
export type MakeAttempt = (job: AttemptJob) => Promise<void>;

/** @param options.onAttempt told of every attempt that was made */
export function createMakeAttempt(options: {
  pool: pg.Pool;
  queue: DeliveryQueue;
  sealing: Pick<Sealing, 'open'>;
  dispatcher: Dispatcher;
  logger: Logger;
  onAttempt: (outcome: Outcome) => void;
}): MakeAttempt {
  const { pool, queue, sealing, dispatcher, logger, onAttempt } = options;

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
    const headers = {
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      'Svc-Event-Id': eventId,
      'Svc-Delivery-Attempt': String(attempt),
      ...webhookHeaders({ secrets, eventId, body, nowMs: Date.now() }),
    };
    return exchange(dispatcher, { url, headers, body });
  }

  return async (job) => {
    const claimed = await claimAttempt(pool, job);
    if (!claimed) {
      const outcome = await inTransaction(pool, (client) => settleUnclaimed(client, queue, job));
      if (outcome) onAttempt(outcome);
      return;
    }
    const outcome = await post(claimed);
    await inTransaction(pool, (client) =>
      concludeAttempt(client, queue, { job, outcome, endedAt: null }),
    );
    onAttempt(outcome);
    const { webhookId: webhook_id, eventId: event_id } = claimed;
    const { error, statusCode: status, durationMs: duration_ms } = outcome;
    const told = { webhook_id, event_id, attempt: job.attempt, status, duration_ms };
    if (error === null) logger.info({ msg: 'Delivered an event', ...told });
    else logger[levelOf(error)]({ msg: 'Failed to deliver an event', ...told, reason: error });
  };
}

/** What a receiver fails at is its owner's affair; what we fail at needs a person of ours. */
function levelOf(error: NonNullable<Outcome['error']>): 'error' | 'info' {
  return error === 'secret_unreadable' ? 'error' : 'info';
}
