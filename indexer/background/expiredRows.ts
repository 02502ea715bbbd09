import type { Database } from '../../common/postgres.ts';

/** In one statement, so that none holds its rows for long. */
const ROWS_AT_ONCE = 1_000;

/**
 * One batch of rows whose time was over so long ago, the oldest first. It takes none that another
 * session changes now.
 *
 * @param key the columns of the table's key
 * @param where what else holds for a row
 */
function deleteOlder(
  table: string,
  key: string,
  { by, than, where = 'true' }: { by: string; than: string; where?: string },
): string {
  return `
    delete from ${table} where (${key}) in (
      select ${key} from ${table} where ${where} and ${by} < now() - interval '${than}'
      order by ${by} limit $1 for update skip locked
    )`;
}

/** Ended by their age, or by 12 hours without a use. */
const deleteEndedSessions = `
  delete from service.sessions where token_sha256 in (
    select token_sha256 from service.sessions
    where signed_in_at < now() - interval '7 days' or last_used_at < now() - interval '12 hours'
    limit $1 for update skip locked
  )`;

/** How long a wallet may wait to open its account before its key and its alert are deleted. */
const WITHOUT_ACCOUNT_DAYS_MAX = 30;

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
  deleteOlder('service.api_keys', 'key_sha256', { by: 'revoked_at', than: '90 days' }),
  ...['service.api_keys', 'service.credit_alerts'].flatMap((table) => [
    markAccounts(table),
    deleteWithoutAccounts(table),
  ]),
);

/**
 * Deletes deliveries with their attempts after 30 days, in which they can be looked up and replayed.
 * What was taken out of budgets goes after ten minutes, of budgets without new requests: each
 * request deletes the old rows of its own.
 */
export const deleteOldDeliveries = createDeletion(
  deleteOlder('service.webhook_deliveries', 'id', {
    by: 'stored_at',
    than: '30 days',
    where: `status <> 'pending'`,
  }),
  deleteOlder('service.requested_deliveries', 'id', { by: 'requested_at', than: '10 minutes' }),
);

/** Deletes requests and answers whose time is over: after an outage of the indexers, millions. */
export const deleteOldRequests = createDeletion(
  deleteOlder('service.idempotent_requests', 'wallet, request_key', {
    by: 'expires_at',
    than: '0 seconds',
  }),
  deleteOlder('service.answer_copies', 'job_id', { by: 'expires_at', than: '0 seconds' }),
);

/** Deletes milliseconds of jobs after 30 days, and hours of workers and minutes of parts after 90. */
export const deleteOldMeasurements = createDeletion(
  deleteOlder('service.job_timings', 'job', { by: 'measured_at', than: '30 days' }),
  deleteOlder('service.worker_hours', 'worker, hour, model_id', { by: 'hour', than: '90 days' }),
  deleteOlder('service.worker_probes', 'worker, hour', { by: 'hour', than: '90 days' }),
  deleteOlder('service.readiness_minutes', 'minute', { by: 'minute', than: '90 days' }),
);

/**
 * Deletes sessions of the web app that have ended, and sign-ins an hour after they can be used, since
 * clocks differ. Events of listeners go after ten minutes, and with them listeners that no process
 * served for as long. A client that was away for longer starts a new one.
 */
export const deleteOldSessions = createDeletion(
  deleteEndedSessions,
  deleteOlder('service.used_sign_ins', 'nonce', { by: 'expires_at', than: '1 hour' }),
  deleteOlder('service.listener_events', 'id', { by: 'stored_at', than: '10 minutes' }),
  deleteOlder('service.webhook_listeners', 'session_id', { by: 'served_at', than: '10 minutes' }),
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
