import type { Database } from '../../common/postgres.ts';

/** Rows as columns, which is how arrays of parameters are given. */
function transpose<Value>(rows: readonly (readonly Value[])[], width: number): Value[][] {
  return Array.from({ length: width }, (_, place) => rows.map((row) => row[place] as Value));
}

/** Whose request, and which. */
export interface RequestKey {
  wallet: string;
  requestKey: Buffer;
}

/** A process that does not renew it for so long has lost the request. */
export const LEASE_SECONDS = 30;

/** Of a request beside others with the same body, each of which may be repeated by itself. */
export function twinKey(requestKey: Buffer, jobId: string): Buffer {
  return Buffer.concat([requestKey, Buffer.from(jobId, 'latin1')]);
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

export interface NewRequest extends RequestKey {
  bodyHmac: Buffer;
  jobId: string;
  lifetimeSeconds: number;
}

export const valuesOf = ({ wallet, requestKey, bodyHmac, jobId, lifetimeSeconds }: NewRequest) => [
  wallet,
  requestKey,
  bodyHmac,
  jobId,
  lifetimeSeconds,
];

const insertInto = `
  insert into service.idempotent_requests
    (wallet, request_key, body_hmac, job_id, expires_at, lease_expires_at, lost_at)`;

export const leaseEnd = `now() + interval '${LEASE_SECONDS} seconds'`;

const onConflict = `
  on conflict (wallet, request_key) do update
  set body_hmac = excluded.body_hmac, job_id = excluded.job_id, expires_at = excluded.expires_at,
      answer = null, answer_expires_at = null,
      lease_expires_at = excluded.lease_expires_at, leased_by = null, lost_at = null`;

const given = (requestKey: string) =>
  `$1, ${requestKey}, $3::bytea, $4::text, now() + make_interval(secs => $5), ${leaseEnd}, null`;

export const upsert = `
  ${insertInto}
  values (${given('$2::bytea')})
  ${onConflict}`;

const ifOver = 'where idempotent_requests.expires_at <= now()';

/** Where a twin's key is made in the database: as `twinKey` makes it. */
const asTwin = (requestKey: string, jobId: string) =>
  `${requestKey} || convert_to(${jobId}, 'LATIN1')`;

/**
 * Stores a request beside those with the same body: `claimRequests`, for one without company.
 *
 * @returns the key that it has
 */
export async function claimRequest(database: Database, request: NewRequest): Promise<Buffer> {
  const { rowCount } = await database.query({
    name: 'claim_request',
    text: `
      with first as (${upsert} ${ifOver} returning 1)
      ${insertInto}
      select ${given(asTwin('$2::bytea', '$4::text'))}
      where not exists (select from first)`,
    values: valuesOf(request),
  });
  return rowCount === 1 ? twinKey(request.requestKey, request.jobId) : request.requestKey;
}

/**
 * Stores each request beside those with the same body. Rows are locked in the order of their keys, as
 * by everyone who locks several, so that nobody waits for somebody who waits for him.
 *
 * @returns the key that each has, in their order
 */
export async function claimRequests(
  database: Database,
  requests: readonly NewRequest[],
): Promise<Buffer[]> {
  const { rows } = await database.query<{ job_id: string }>({
    name: 'claim_requests',
    text: `
      with given as (
        select *, now() + make_interval(secs => seconds) as expires_at,
          row_number() over (partition by wallet, request_key) = 1 as is_first
        from unnest($1::text[], $2::bytea[], $3::bytea[], $4::text[], $5::int[])
          as given (wallet, request_key, body_hmac, job_id, seconds)
      ), first as (
        ${insertInto}
        select wallet, request_key, body_hmac, job_id, expires_at, ${leaseEnd}, null
        from given where is_first
        order by wallet, request_key
        ${onConflict} ${ifOver}
        returning job_id
      )
      ${insertInto}
      select wallet, ${asTwin('request_key', 'job_id')}, body_hmac, job_id, expires_at, ${leaseEnd},
        null
      from given where job_id not in (select job_id from first)
      returning job_id`,
    values: transpose<unknown>(requests.map(valuesOf), 5),
  });
  const twins = new Set(rows.map(({ job_id }) => job_id));
  return requests.map(({ requestKey, jobId }) =>
    twins.has(jobId) ? twinKey(requestKey, jobId) : requestKey,
  );
}

/** @returns whether it was stored; false when there is one that has not expired */
export async function insertRequest(database: Database, request: NewRequest): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'insert_request',
    text: `${upsert} ${ifOver}`,
    values: valuesOf(request),
  });
  return rowCount === 1;
}

/** The request of a running job, by its name. */
export interface LeaseKey extends RequestKey {
  jobId: string;
}

/**
 * Their answers were delivered whole: they are never repeated. Each is looked up by itself, as in
 * `storeAnswers`.
 */
export async function expireRequests(database: Database, keys: readonly LeaseKey[]): Promise<void> {
  const given = keys.map(({ wallet, requestKey, jobId }) => [wallet, requestKey, jobId]);
  await database.query({
    name: 'expire_requests',
    text: `
      with held as (
        select given.wallet, given.request_key, given.job_id, body_hmac
        from (
          select * from unnest($1::text[], $2::bytea[], $3::text[])
            as given (wallet, request_key, job_id)
          order by wallet, request_key
        ) given
        cross join lateral (
          select body_hmac from service.idempotent_requests
          where wallet = given.wallet and request_key = given.request_key
            and job_id = given.job_id
          for no key update
        ) request
      )
      insert into service.idempotent_requests (wallet, request_key, body_hmac, job_id, expires_at)
      select wallet, request_key, body_hmac, job_id, now() from held
      on conflict (wallet, request_key) do update set expires_at = excluded.expires_at`,
    values: transpose<unknown>(given, 3),
  });
}

/**
 * Renews the leases of running jobs.
 *
 * @returns the jobs whose lease it renewed: not those whose request is another's by now, nor those
 *   whose lease a repeat has taken
 */
export async function renewLeases(
  database: Database,
  keys: readonly LeaseKey[],
): Promise<Set<string>> {
  const given = keys.map(({ wallet, requestKey, jobId }) => [wallet, requestKey, jobId]);
  const { rows } = await database.query<{ job_id: string }>({
    name: 'renew_leases',
    text: `
      with held as (
        select request.wallet, request.request_key
        from unnest($1::text[], $2::bytea[], $3::text[]) as given (wallet, request_key, job_id)
        join service.idempotent_requests request using (wallet, request_key, job_id)
        where leased_by is null
        order by request.wallet, request.request_key
        for update of request
      )
      update service.idempotent_requests request set lease_expires_at = ${leaseEnd}
      from held
      where request.wallet = held.wallet and request.request_key = held.request_key
      returning request.job_id`,
    values: transpose<unknown>(given, 3),
  });
  return new Set(rows.map(({ job_id }) => job_id));
}

/** The answer to the request that became this job. */
export interface NewAnswer extends RequestKey {
  jobId: string;
  sealed: Buffer;
  lifetimeSeconds: number;
}

const answerValuesOf = ({ wallet, requestKey, jobId, sealed, lifetimeSeconds }: NewAnswer) => [
  wallet,
  requestKey,
  jobId,
  sealed,
  lifetimeSeconds,
];

const insertCopies = 'insert into service.answer_copies (job_id, answer, expires_at)';

/** It was stored, and its process does not know. */
const onCopy = `
  on conflict (job_id) do update set answer = excluded.answer, expires_at = excluded.expires_at`;

/**
 * Whether a process of a release without `answer_copies` may be asked for the answer: for a day after
 * an upgrade.
 */
const olderMayRead = `
  exists (
    select from service.migrations first join service.migrations moved on moved.id = 20
    where first.id = 1 and moved.applied_at > first.applied_at
      and moved.applied_at > now() - interval '1 day'
  )`;

/** What `storeAnswers` does, in a statement that costs half as much for one answer. */
export async function storeAnswer(database: Database, answer: NewAnswer): Promise<void> {
  await database.query({
    name: 'store_answer',
    text: `
      with held as (
        select job_id from service.idempotent_requests
        where wallet = $1 and request_key = $2 and job_id = $3
        for no key update
      ), older as (
        update service.idempotent_requests request
        set answer = $4, answer_expires_at = now() + make_interval(secs => $5)
        from held where wallet = $1 and request_key = $2 and ${olderMayRead}
      )
      ${insertCopies} select job_id, $4, now() + make_interval(secs => $5) from held ${onCopy}`,
    values: answerValuesOf(answer),
  });
}

/**
 * Keeps each answer, unless another request has taken the place of the one it answers: its row is
 * locked, so that none does meanwhile. A repeat that took the lease finds it, too, should the job
 * still settle. Each is looked up by itself, in the order of the keys and whatever the table's size
 * was when the plan was made.
 */
export async function storeAnswers(
  database: Database,
  answers: readonly NewAnswer[],
): Promise<void> {
  const columns = answers.map(answerValuesOf);
  await database.query({
    name: 'store_answers',
    text: `
      with held as (
        select given.wallet, given.request_key, given.job_id, sealed, seconds,
          body_hmac, expires_at
        from (
          select * from unnest($1::text[], $2::bytea[], $3::text[], $4::bytea[], $5::int[])
            as given (wallet, request_key, job_id, sealed, seconds)
          order by wallet, request_key
        ) given
        cross join lateral (
          select body_hmac, expires_at from service.idempotent_requests
          where wallet = given.wallet and request_key = given.request_key
            and job_id = given.job_id
          for no key update
        ) request
      ), older as (
        -- An update would be planned as a join, which may scan the table. Each row is there already.
        insert into service.idempotent_requests
          (wallet, request_key, body_hmac, job_id, expires_at, answer, answer_expires_at)
        select wallet, request_key, body_hmac, job_id, expires_at, sealed,
          now() + make_interval(secs => seconds)
        from held where ${olderMayRead}
        on conflict (wallet, request_key) do update
        set answer = excluded.answer, answer_expires_at = excluded.answer_expires_at
      )
      ${insertCopies}
      select job_id, sealed, now() + make_interval(secs => seconds) from held ${onCopy}`,
    values: transpose<unknown>(columns, 5),
  });
}
