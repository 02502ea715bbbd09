import { randomUUID } from 'node:crypto';
import { Registry } from 'prom-client';
import { createLogger } from '../../common/logger.ts';
import { createGuardedAgents } from '../../common/net/addressGuard.ts';
import { inTransaction } from '../../common/postgres.ts';
import { createSealing } from '../../common/sealing.ts';
import type { LedgerEvent, LedgerTransaction } from '../../indexer/fold/event.ts';
import { applyTransactions } from '../../indexer/mirror/apply.ts';
import {
  createWebhookOutbox,
  type WebhookOutbox,
} from '../../indexer/webhooks/announce/webhookOutbox.ts';
import { createMakeAttempt } from '../../indexer/webhooks/deliver/attempt.ts';
import { type AttemptId, claimDue } from '../../indexer/webhooks/deliver/claim.ts';
import type { AttemptResult } from '../../indexer/webhooks/deliver/exchange.ts';
import { startWebhooks } from '../../indexer/webhooks/start.ts';

type Webhooks = Awaited<ReturnType<typeof startWebhooks>>;

import { createAddresses } from '../../programs/client/addresses.ts';
import { API_VERSION, type EventKind } from '../../webhooks/events.ts';
import { SECRETS_KEY } from './indexerProcess.ts';
import { createMirrorDatabase, type MirrorDatabase } from './mirrorDatabase.ts';

export const WALLET = '6gzUVgpPfHDoVcbGyA7Nzj4LUxq51XE8vyVvmA4LqyVD';
export const SECRET = 'whsec_c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0ISE=';

export interface DeliveryRow {
  id: bigint;
  webhook_id: string;
  event_id: string;
  event: string;
  body: string;
  status: string;
  attempts: number;
  due_at: Date | number | null;
}

interface AttemptRow {
  attempt: number;
  status_code: number | null;
  error: string | null;
  response: string | null;
  duration_ms: number | null;
}

/** Webhooks on their own database, without a ledger. */
export interface WebhookScene extends MirrorDatabase {
  readonly outbox: WebhookOutbox;
  /** Folds and announces, as the indexer does. */
  applyAndAnnounce(transactions: readonly LedgerTransaction[], as?: WebhookOutbox): Promise<void>;
  /** Announces events that are not in the mirror. */
  announce(events: readonly LedgerEvent[], as?: WebhookOutbox): Promise<void>;
  /** @returns its id; by default active, of `WALLET`, for top-ups */
  addWebhook(webhook: {
    url: string;
    wallet?: string;
    events?: readonly EventKind[];
    secret?: string;
    status?: string;
  }): Promise<string>;
  webhookStatus(id: string): Promise<string | undefined>;
  /** In the order of their announcement. */
  deliveries(): Promise<DeliveryRow[]>;
  attempts(deliveryId: bigint): Promise<AttemptRow[]>;
  /** Makes the attempts that are due now, one after the other. */
  attemptDue(): Promise<AttemptResult[]>;
  /** Makes one attempt, or completes it. */
  makeAttempt(id: AttemptId): Promise<void>;
  /** The log lines of level `error`. */
  readonly errors: { msg: string }[];
  /** Makes a delivery's next attempt due in `seconds` from now. */
  moveDue(deliveryId: bigint, seconds: number): Promise<void>;
  /** Seconds until a delivery's next attempt, by the database's clock. */
  dueInSeconds(deliveryId: bigint): Promise<number>;
  /** Delivers as an indexer does, until it is closed. @param exchangeMs by default as long, too */
  start(options?: { exchangeMs?: number }): Promise<Webhooks>;
}

export async function createWebhookScene(): Promise<WebhookScene> {
  const mirror = await createMirrorDatabase();
  const { pool, databaseUrl } = mirror;
  const errors: WebhookScene['errors'] = [];
  const into = { write: (line: string) => void errors.push(JSON.parse(line)) };
  const logger = createLogger({ name: 'test', level: 'error', into });
  const sealing = createSealing(Buffer.from(SECRETS_KEY, 'base64'));
  const agents = createGuardedAgents({ allowLoopback: true });
  const outbox = createWebhookOutbox({ awaitsFinality: false }, 0n);
  const addresses = createAddresses();
  const started: Webhooks[] = [];
  const prepareAttempts = (onAttempt: (result: AttemptResult) => void) =>
    createMakeAttempt({ pool, sealing, logger, agents, onAttempt });

  return {
    ...mirror,
    outbox,
    async applyAndAnnounce(transactions, as = outbox) {
      for (const transaction of transactions) {
        await inTransaction(pool, (client) =>
          applyTransactions(client, [transaction], addresses, { notify: as.announce }),
        );
      }
    },
    async announce(events, as = outbox) {
      await inTransaction(pool, (client) => as.announce(client, events));
    },
    async addWebhook({ url, wallet = WALLET, events = ['credit.topup'], secret = SECRET, status }) {
      const id = `wh_${randomUUID().replaceAll('-', '')}`;
      await pool.query(
        `insert into service.webhooks (id, wallet, url, events, status, api_version, secret)
         values ($1, $2, $3, $4, $5, $6, $7)`,
        [id, wallet, url, events, status ?? 'active', API_VERSION, sealing.seal(secret)],
      );
      return id;
    },
    async webhookStatus(id) {
      const { rows } = await pool.query('select status from service.webhooks where id = $1', [id]);
      return rows[0]?.status;
    },
    async deliveries() {
      const { rows } = await pool.query('select * from service.webhook_deliveries order by id');
      return rows;
    },
    async attempts(deliveryId) {
      const { rows } = await pool.query(
        `select attempt, status_code, error, response, duration_ms from service.webhook_attempts
         where delivery_id = $1 order by attempt`,
        [deliveryId],
      );
      return rows;
    },
    errors,
    makeAttempt: (id) => prepareAttempts(() => {})(id),
    async attemptDue() {
      const results: AttemptResult[] = [];
      const makeAttempt = prepareAttempts((result) => results.push(result));
      const claim = () => claimDue(pool, { max: 100, webhookMax: 4, exceptWallets: [] });
      for (let due = await claim(); due.length > 0; due = await claim()) {
        for (const id of due) await makeAttempt(id);
      }
      return results;
    },
    async moveDue(deliveryId, seconds) {
      await pool.query(
        `update service.webhook_deliveries
         set due_at = clock_timestamp() + $2 * interval '1 second'
         where id = $1 and status = 'pending'`,
        [deliveryId, seconds],
      );
    },
    async dueInSeconds(deliveryId) {
      const { rows } = await pool.query(
        `select extract(epoch from due_at - clock_timestamp())::float8 as seconds
         from service.webhook_deliveries where id = $1`,
        [deliveryId],
      );
      return rows[0]?.seconds;
    },
    async start(times = {}) {
      const webhooks = await startWebhooks({
        ...{ pool, databaseUrl, sealing, logger },
        registry: new Registry(),
        allowLoopback: true,
        ...times,
        onFatal(error) {
          throw error;
        },
      });
      started.push(webhooks);
      return webhooks;
    },
    async close() {
      await Promise.all(started.map((webhooks) => webhooks.stop()));
      agents.destroy();
      await mirror.close();
    },
  };
}
