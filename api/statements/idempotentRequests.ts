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

interface NewRequest extends RequestKey {
  bodyHmac: Buffer;
  jobId: string;
  lifetimeSeconds: number;
}

const valuesOf = ({ wallet, requestKey, bodyHmac, jobId, lifetimeSeconds }: NewRequest) => [
  wallet,
  requestKey,
  bodyHmac,
  jobId,
  lifetimeSeconds,
];

const upsert = `
  insert into service.idempotent_requests (wallet, request_key, body_hmac, job_id, expires_at)
  values ($1, $2, $3, $4, now() + make_interval(secs => $5))
  on conflict (wallet, request_key) do update
  set body_hmac = excluded.body_hmac, job_id = excluded.job_id, expires_at = excluded.expires_at,
      answer = null, answer_expires_at = null`;

/** Makes this the wallet's last request of its kind. */
export async function replaceRequest(database: Database, request: NewRequest): Promise<void> {
  await database.query({ name: 'replace_request', text: upsert, values: valuesOf(request) });
}

/** @returns whether it was stored; false when there is one that has not expired */
export async function insertRequest(database: Database, request: NewRequest): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'insert_request',
    text: `${upsert} where idempotent_requests.expires_at <= now()`,
    values: valuesOf(request),
  });
  return rowCount === 1;
}

/** @returns whether it took the place of the request that became `replacedJobId` */
export async function takeOverRequest(
  database: Database,
  request: NewRequest,
  replacedJobId: string,
): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'take_over_request',
    text: `${upsert} where idempotent_requests.job_id = $6`,
    values: [...valuesOf(request), replacedJobId],
  });
  return rowCount === 1;
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

/** Only while the request is still this job's. */
export async function deleteRequest(
  database: Database,
  { wallet, requestKey, jobId }: RequestKey & { jobId: string },
): Promise<void> {
  await database.query({
    name: 'delete_request',
    text: `
      delete from service.idempotent_requests
      where wallet = $1 and request_key = $2 and job_id = $3`,
    values: [wallet, requestKey, jobId],
  });
}

export async function storeAnswer(
  database: Database,
  { wallet, requestKey, jobId }: RequestKey & { jobId: string },
  answer: { sealed: Buffer; lifetimeSeconds: number },
): Promise<void> {
  await database.query({
    name: 'store_answer',
    text: `
      update service.idempotent_requests
      set answer = $4, answer_expires_at = now() + make_interval(secs => $5)
      where wallet = $1 and request_key = $2 and job_id = $3`,
    values: [wallet, requestKey, jobId, answer.sealed, answer.lifetimeSeconds],
  });
}

/** Requests and answers whose time is over. */
export async function pruneRequests(database: Database): Promise<void> {
  await database.query('delete from service.idempotent_requests where expires_at <= now()');
  await database.query(
    `update service.idempotent_requests set answer = null, answer_expires_at = null
     where answer_expires_at <= now()`,
  );
}
