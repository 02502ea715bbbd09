import type { Database } from '../../runtime/postgres.ts';

/** Whose request, and which. */
export interface RequestKey {
  wallet: string;
  requestKey: Buffer;
}

/** What is known of an earlier request. */
export interface IdempotentRequestRow {
  job_id: string;
  body_hmac: Buffer;
  /** Null when it was never stored, or its time is over. */
  answer: Buffer | null;
}

export async function selectRequest(
  database: Database,
  { wallet, requestKey }: RequestKey,
): Promise<IdempotentRequestRow | undefined> {
  const { rows } = await database.query<IdempotentRequestRow>({
    name: 'select_request',
    text: `
      select job_id, body_hmac, case when answer_expires_at > now() then answer end as answer
      from service.idempotent_requests
      where wallet = $1 and request_key = $2 and expires_at > now()`,
    values: [wallet, requestKey],
  });
  return rows[0];
}

/** Only while the request is still this job's. @returns whether it was */
export async function deleteRequest(
  database: Database,
  { wallet, requestKey, jobId }: RequestKey & { jobId: string },
): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'delete_request',
    text: `
      delete from service.idempotent_requests
      where wallet = $1 and request_key = $2 and job_id = $3`,
    values: [wallet, requestKey, jobId],
  });
  return rowCount === 1;
}

/** Rows in one statement, so that none takes long, and nobody waits long for a row that it has. */
const PRUNED_AT_ONCE = 1_000;

const deleteExpired = `
  delete from service.idempotent_requests where (wallet, request_key) in (
    select wallet, request_key from service.idempotent_requests
    where expires_at <= now() order by expires_at limit $1 for update skip locked
  )`;

const forgetAnswers = `
  update service.idempotent_requests set answer = null, answer_expires_at = null
  where (wallet, request_key) in (
    select wallet, request_key from service.idempotent_requests
    where answer_expires_at <= now() order by answer_expires_at limit $1 for update skip locked
  )`;

/**
 * Requests and answers whose time is over, but for those that somebody changes just now. All that
 * there are: after a time in which nobody pruned, these may be millions.
 *
 * @param signal ends it after the statement it is at
 */
export async function pruneRequests(database: Database, signal?: AbortSignal): Promise<void> {
  for (const statement of [deleteExpired, forgetAnswers]) {
    let pruned: number | null = PRUNED_AT_ONCE;
    while (pruned === PRUNED_AT_ONCE && !signal?.aborted) {
      ({ rowCount: pruned } = await database.query(statement, [PRUNED_AT_ONCE]));
    }
  }
}
