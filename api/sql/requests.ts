import { columnsOf, type Database } from '../../common/postgres.ts';

// What every request writes: its row, the lease of that, and the answer. What a repeat does with the rows
// of earlier requests is in `repeats.ts`.

/** Whose request, and which. */
export interface RequestKey {
  wallet: string;
  requestKey: Buffer;
}

/** The request of a running job, by its name. */
export interface LeaseKey extends RequestKey {
  jobId: string;
}

/** A process that does not renew its lease for so long has lost the request. */
export const LEASE_SECONDS = 30;

/** Of a request beside others with the same body, each of which may be repeated by itself. */
export function twinKey(requestKey: Buffer, jobId: string): Buffer {
  return Buffer.concat([requestKey, Buffer.from(jobId, 'latin1')]);
}

export interface NewRequest extends LeaseKey {
  bodyHmac: Buffer;
  lifetimeSeconds: number;
}

export const NEW_FIELDS = ['wallet', 'requestKey', 'bodyHmac', 'jobId', 'lifetimeSeconds'] as const;

export const insertInto = `
  insert into service.idempotent_requests
    (wallet, request_key, body_hmac, job_id, expires_at, lease_expires_at, lost_at)`;

export const leaseEnd = `now() + interval '${LEASE_SECONDS} seconds'`;

export const onConflict = `
  on conflict (wallet, request_key) do update
  set body_hmac = excluded.body_hmac, job_id = excluded.job_id, expires_at = excluded.expires_at,
      lease_expires_at = excluded.lease_expires_at, leased_by = null, lost_at = null`;

export const ifOver = 'where idempotent_requests.expires_at <= now()';

/**
 * Stores each request beside those with the same body. Rows are locked in the order of their keys, as by
 * every statement that locks several, so that no two wait for each other.
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
      -- As \`twinKey\` makes it.
      select wallet, request_key || convert_to(job_id, 'LATIN1'), body_hmac, job_id, expires_at,
        ${leaseEnd}, null
      from given where job_id not in (select job_id from first)
      returning job_id`,
    values: columnsOf(requests, ...NEW_FIELDS),
  });
  const twins = new Set(rows.map(({ job_id }) => job_id));
  return requests.map(({ requestKey, jobId }) =>
    twins.has(jobId) ? twinKey(requestKey, jobId) : requestKey,
  );
}

/** Only while the request is still this job's. @returns whether it was */
export async function deleteRequest(
  database: Database,
  { wallet, requestKey, jobId }: LeaseKey,
): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'delete_request',
    text: `
      select from service.delete_rows('idempotent_requests', array(
        select ctid from service.idempotent_requests
        where wallet = $1 and request_key = $2 and job_id = $3 for update
      ))`,
    values: [wallet, requestKey, jobId],
  });
  return rowCount === 1;
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
    values: columnsOf(keys, 'wallet', 'requestKey', 'jobId'),
  });
  return new Set(rows.map(({ job_id }) => job_id));
}

/** After their answers were delivered whole: they are never repeated. */
export async function expireRequests(database: Database, keys: readonly LeaseKey[]): Promise<void> {
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
    values: columnsOf(keys, 'wallet', 'requestKey', 'jobId'),
  });
}

/** Its connection is over without the whole answer: from now on a repeat may have it. */
export async function loseRequest(
  database: Database,
  { wallet, requestKey, jobId }: LeaseKey,
): Promise<void> {
  await database.query({
    name: 'lose_request',
    text: `
      update service.idempotent_requests set lost_at = now()
      where wallet = $1 and request_key = $2 and job_id = $3`,
    values: [wallet, requestKey, jobId],
  });
}

/** The answer to the request that became this job. */
export interface NewAnswer extends LeaseKey {
  sealed: Buffer;
  lifetimeSeconds: number;
}

/**
 * Stores each answer, unless another request has taken the place of the one it answers. That one's row
 * is locked, so that none does at the same time. A repeat that took the lease finds the answer, too,
 * should the job still settle.
 *
 * Each is looked up by itself, in the order of the keys. A join may be planned as a scan of the table,
 * while the table is small, and the plan is kept.
 */
export async function storeAnswers(
  database: Database,
  answers: readonly NewAnswer[],
): Promise<void> {
  await database.query({
    name: 'store_answers',
    text: `
      with held as (
        select given.job_id, sealed, seconds
        from (
          select * from unnest($1::text[], $2::bytea[], $3::text[], $4::bytea[], $5::int[])
            as given (wallet, request_key, job_id, sealed, seconds)
          order by wallet, request_key
        ) given
        cross join lateral (
          select from service.idempotent_requests
          where wallet = given.wallet and request_key = given.request_key
            and job_id = given.job_id
          for no key update
        ) request
      )
      insert into service.answer_copies (job_id, answer, expires_at)
      select job_id, sealed, now() + make_interval(secs => seconds) from held
      -- It may be stored already, where its process has missed the database's answer.
      on conflict (job_id) do update
      set answer = excluded.answer, expires_at = excluded.expires_at`,
    values: columnsOf(answers, 'wallet', 'requestKey', 'jobId', 'sealed', 'lifetimeSeconds'),
  });
}
