import type { Database } from '../../common/postgres.ts';

/** In one statement, so that none holds its rows for long. */
const ROWS_AT_ONCE = 1_000;

/**
 * One batch of rows whose time is over, the oldest first; none that another session changes now.
 *
 * @param key the columns of the table's key
 */
function deleteOldest(
  table: string,
  key: string,
  { by, where }: { by: string; where: string },
): string {
  return `
    delete from ${table} where (${key}) in (
      select ${key} from ${table} where ${where} order by ${by} limit $1 for update skip locked
    )`;
}

const EXPIRED = { by: 'expires_at', where: 'expires_at <= now()' };

const NINETY_DAYS_OLD = { by: 'hour', where: `hour < now() - interval '90 days'` };

/** How long deliveries can be looked up and replayed. */
const DELIVERIES_KEPT_DAYS = 30;

const deleteOldDeliveriesBatch = deleteOldest('service.webhook_deliveries', 'id', {
  by: 'stored_at',
  where: `status <> 'pending' and stored_at < now() - interval '${DELIVERIES_KEPT_DAYS} days'`,
});

const deleteExpiredRequests = deleteOldest(
  'service.idempotent_requests',
  'wallet, request_key',
  EXPIRED,
);

const deleteExpiredCopies = deleteOldest('service.answer_copies', 'job_id', EXPIRED);

/** Ended by their age, or by 12 hours without a use. */
const deleteEndedSessions = `
  delete from service.sessions where token_sha256 in (
    select token_sha256 from service.sessions
    where signed_in_at < now() - interval '7 days' or last_used_at < now() - interval '12 hours'
    limit $1 for update skip locked
  )`;

/** An hour more than they are good for, since clocks differ. */
const deleteUsedSignIns = deleteOldest('service.used_sign_ins', 'nonce', {
  by: 'expires_at',
  where: `expires_at < now() - interval '1 hour'`,
});

/** Their events go with them. A client that was away for longer starts a new listener. */
const deleteUnservedListeners = `
  delete from service.webhook_listeners where session_id in (
    select session_id from service.webhook_listeners
    where served_at < now() - interval '10 minutes' limit $1 for update skip locked
  )`;

const deleteOldListenerEvents = deleteOldest('service.listener_events', 'id', {
  by: 'stored_at',
  where: `stored_at < now() - interval '10 minutes'`,
});

/** How long a revoked key is listed. */
const REVOKED_KEYS_KEPT_DAYS = 90;
/** How long a wallet may wait to open its account before its key and its alert are deleted. */
const WITHOUT_ACCOUNT_DAYS_MAX = 30;

const deleteRevokedKeys = deleteOldest('service.api_keys', 'key_sha256', {
  by: 'revoked_at',
  where: `revoked_at < now() - interval '${REVOKED_KEYS_KEPT_DAYS} days'`,
});

const markAccounts = (table: string) => `
  update ${table} set without_account_since = null where ctid = any(array(
    select owned.ctid from ${table} owned join mirror.credit_accounts account using (wallet)
    where without_account_since is not null limit $1 for update of owned skip locked
  ))`;

const deleteWithoutAccounts = (table: string) => `
  delete from ${table} where ctid = any(array(
    select ctid from ${table}
    where without_account_since < now() - interval '${WITHOUT_ACCOUNT_DAYS_MAX} days'
    order by without_account_since limit $1 for update skip locked
  ))`;

/**
 * Deletes keys that were revoked 90 days ago, and keys and alerts of wallets that opened no account
 * within 30 days. A wallet with an account keeps both, also while a new mirror does not know it yet.
 */
export const deleteOldKeys = createDeletion(
  deleteRevokedKeys,
  ...['service.api_keys', 'service.credit_alerts'].flatMap((table) => [
    markAccounts(table),
    deleteWithoutAccounts(table),
  ]),
);

/** Of budgets without new requests: each request deletes the old rows of its own budget. */
const deleteOldRequestedDeliveries = deleteOldest('service.requested_deliveries', 'id', {
  by: 'requested_at',
  where: `requested_at < now() - interval '10 minutes'`,
});

/**
 * Deletes old deliveries with their attempts, and what was taken out of budgets: all but rows that
 * another session changes now.
 */
export const deleteOldDeliveries = createDeletion(
  deleteOldDeliveriesBatch,
  deleteOldRequestedDeliveries,
);

/**
 * Deletes requests and answers whose time is over: all but rows that another session changes now.
 * After an outage of the indexers there may be millions.
 */
export const deleteOldRequests = createDeletion(deleteExpiredRequests, deleteExpiredCopies);

/** Deletes milliseconds of jobs after 30 days, and hours of workers and minutes of parts after 90. */
export const deleteOldMeasurements = createDeletion(
  deleteOldest('service.job_timings', 'job', {
    by: 'measured_at',
    where: `measured_at < now() - interval '30 days'`,
  }),
  deleteOldest('service.worker_hours', 'worker, hour, model_id', NINETY_DAYS_OLD),
  deleteOldest('service.worker_probes', 'worker, hour', NINETY_DAYS_OLD),
  deleteOldest('service.readiness_minutes', 'minute', {
    by: 'minute',
    where: `minute < now() - interval '90 days'`,
  }),
);

/**
 * Deletes sessions of the web app that have ended, sign-ins that are too old to be used again, and
 * listeners that no process serves. Events of other listeners go after ten minutes.
 */
export const deleteOldSessions = createDeletion(
  deleteEndedSessions,
  deleteUsedSignIns,
  deleteOldListenerEvents,
  deleteUnservedListeners,
);

/** Runs the statements in turn, each until no rows are left. Its signal ends it after a statement. */
function createDeletion(...statements: readonly string[]) {
  return async (database: Database, signal?: AbortSignal): Promise<void> => {
    for (const statement of statements) {
      let rowCount: number | null = ROWS_AT_ONCE;
      while (rowCount === ROWS_AT_ONCE) {
        ({ rowCount } = await database.query(statement, [ROWS_AT_ONCE]));
        if (signal?.aborted) return;
      }
    }
  };
}
