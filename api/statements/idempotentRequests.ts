import type { Database } from '../../runtime/postgres.ts';
import type { Payer } from './keyAndAccount.ts';

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

export interface NewRequest extends RequestKey {
  bodyHmac: Buffer;
  jobId: string;
  lifetimeSeconds: number;
}

/** A request with the key that it came with. */
export interface KeyedRequest extends Omit<NewRequest, 'wallet'> {
  keySha256: string;
}

/** The answer to the request that became this job. */
export interface NewAnswer extends RequestKey {
  jobId: string;
  sealed: Buffer;
  lifetimeSeconds: number;
}

const valuesOf = ({ wallet, requestKey, bodyHmac, jobId, lifetimeSeconds }: NewRequest) => [
  wallet,
  requestKey,
  bodyHmac,
  jobId,
  lifetimeSeconds,
];

const keyedValuesOf = ({
  keySha256,
  requestKey,
  bodyHmac,
  jobId,
  lifetimeSeconds,
}: KeyedRequest) => [keySha256, requestKey, bodyHmac, jobId, lifetimeSeconds];

const answerValuesOf = ({ wallet, requestKey, jobId, sealed, lifetimeSeconds }: NewAnswer) => [
  wallet,
  requestKey,
  jobId,
  sealed,
  lifetimeSeconds,
];

const onConflict = `
  on conflict (wallet, request_key) do update
  set body_hmac = excluded.body_hmac, job_id = excluded.job_id, expires_at = excluded.expires_at,
      answer = null, answer_expires_at = null`;

const upsert = `
  insert into service.idempotent_requests (wallet, request_key, body_hmac, job_id, expires_at)
  values ($1, $2, $3, $4, now() + make_interval(secs => $5))
  ${onConflict}`;

/**
 * Makes it the wallet's last request of its kind, if the key it came with is active: what
 * `claimRequests` does, in a statement that costs half as much for a request without company.
 *
 * @returns who pays; undefined when the key is not active
 */
export async function claimRequest(
  database: Database,
  request: KeyedRequest,
): Promise<Payer | undefined> {
  const { rows } = await database.query<Payer>({
    name: 'claim_request',
    text: `
      with payer as materialized (
        select key.wallet, account.spender, account.available_credits
        from service.api_keys key
        left join lateral (
          select spender, available_credits from mirror.credit_accounts
          where wallet = key.wallet offset 0
        ) account on true
        where key.key_sha256 = $1 and key.status = 'active'
      ), claimed as (
        insert into service.idempotent_requests (wallet, request_key, body_hmac, job_id, expires_at)
        select wallet, $2, $3, $4, now() + make_interval(secs => $5) from payer
        ${onConflict}
      )
      select wallet, spender, available_credits from payer`,
    values: keyedValuesOf(request),
  });
  return rows[0];
}

/**
 * Makes each the wallet's last request of its kind, if the key it came with is active; of two that
 * are the same, the later one. Rows are locked in the order of their keys, as by everyone who locks
 * several, so that nobody waits for somebody who waits for him. Keys and accounts are each looked up
 * by themselves, whatever the tables' sizes were when the plan was made.
 *
 * @returns who pays, in the order of the requests; undefined where the key is not active
 */
export async function claimRequests(
  database: Database,
  requests: readonly KeyedRequest[],
): Promise<(Payer | undefined)[]> {
  const last = new Map(requests.map((request) => [nameOf(request), request]));
  const columns = [...last.values()].map(keyedValuesOf);
  const { rows } = await database.query<Payer & { key_sha256: string }>({
    name: 'claim_requests',
    text: `
      with given as materialized (
        select given.*, key.wallet, account.spender, account.available_credits
        from unnest($1::text[], $2::bytea[], $3::bytea[], $4::text[], $5::int[])
          as given (key_sha256, request_key, body_hmac, job_id, seconds)
        cross join lateral (
          select wallet from service.api_keys
          where key_sha256 = given.key_sha256 and status = 'active' offset 0
        ) key
        left join lateral (
          select spender, available_credits from mirror.credit_accounts
          where wallet = key.wallet offset 0
        ) account on true
      ), claimed as (
        insert into service.idempotent_requests (wallet, request_key, body_hmac, job_id, expires_at)
        select wallet, request_key, body_hmac, job_id, now() + make_interval(secs => seconds)
        from given
        order by wallet, request_key
        ${onConflict}
      )
      select distinct on (key_sha256) key_sha256, wallet, spender, available_credits from given`,
    values: transpose<unknown>(columns, 5),
  });
  const payers = new Map(rows.map(({ key_sha256, ...payer }) => [key_sha256, payer]));
  return requests.map(({ keySha256 }) => payers.get(keySha256));
}

/** By key, not by wallet: of a wallet's keys one at most is active. */
const nameOf = ({ keySha256, requestKey }: KeyedRequest): string =>
  `${keySha256} ${requestKey.toString('base64')}`;

/** Rows as columns, which is how arrays of parameters are given. */
function transpose<Value>(rows: readonly (readonly Value[])[], width: number): Value[][] {
  return Array.from({ length: width }, (_, place) => rows.map((row) => row[place] as Value));
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

/** What `storeAnswers` does, in a statement that costs half as much for one answer. */
export async function storeAnswer(database: Database, answer: NewAnswer): Promise<void> {
  await database.query({
    name: 'store_answer',
    text: `
      update service.idempotent_requests
      set answer = $4, answer_expires_at = now() + make_interval(secs => $5)
      where wallet = $1 and request_key = $2 and job_id = $3`,
    values: answerValuesOf(answer),
  });
}

/**
 * Keeps each answer, unless another request has taken the place of the one it answers. Each is
 * looked up by itself, in the order of the keys and whatever the table's size was when the plan was
 * made.
 */
export async function storeAnswers(
  database: Database,
  answers: readonly NewAnswer[],
): Promise<void> {
  const columns = answers.map(answerValuesOf);
  await database.query({
    name: 'store_answers',
    text: `
      update service.idempotent_requests request
      set answer = given.sealed, answer_expires_at = now() + make_interval(secs => given.seconds)
      from (
        select held.ctid, sealed, seconds
        from (
          select * from unnest($1::text[], $2::bytea[], $3::text[], $4::bytea[], $5::int[])
            as given (wallet, request_key, job_id, sealed, seconds)
          order by wallet, request_key
        ) given
        cross join lateral (
          select ctid from service.idempotent_requests
          where wallet = given.wallet and request_key = given.request_key
            and job_id = given.job_id
          offset 0
        ) held
      ) given
      where request.ctid = given.ctid`,
    values: transpose<unknown>(columns, 5),
  });
}

/** Requests and answers whose time is over, but for those that somebody changes just now. */
export async function pruneRequests(database: Database): Promise<void> {
  await database.query(`
    delete from service.idempotent_requests where (wallet, request_key) in (
      select wallet, request_key from service.idempotent_requests
      where expires_at <= now() for update skip locked
    )`);
  await database.query(`
    update service.idempotent_requests set answer = null, answer_expires_at = null
    where (wallet, request_key) in (
      select wallet, request_key from service.idempotent_requests
      where answer_expires_at <= now() for update skip locked
    )`);
}
