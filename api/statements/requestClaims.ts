import type { Database } from '../../runtime/postgres.ts';
import { transpose } from './columns.ts';
import type { RequestKey } from './idempotentRequests.ts';

export interface NewRequest extends RequestKey {
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

const insertInto = `
  insert into service.idempotent_requests (wallet, request_key, body_hmac, job_id, expires_at)`;

const onConflict = `
  on conflict (wallet, request_key) do update
  set body_hmac = excluded.body_hmac, job_id = excluded.job_id, expires_at = excluded.expires_at,
      answer = null, answer_expires_at = null`;

const upsert = `
  ${insertInto}
  values ($1, $2, $3, $4, now() + make_interval(secs => $5))
  ${onConflict}`;

/** Makes it the wallet's last request of its kind: `claimRequests`, for a request without company. */
export async function claimRequest(database: Database, request: NewRequest): Promise<void> {
  await database.query({ name: 'claim_request', text: upsert, values: valuesOf(request) });
}

/**
 * Makes each the wallet's last request of its kind; of two that are the same, the later one. Rows
 * are locked in the order of their keys, as by everyone who locks several, so that nobody waits for
 * somebody who waits for him.
 */
export async function claimRequests(
  database: Database,
  requests: readonly NewRequest[],
): Promise<void> {
  const last = new Map(requests.map((request) => [nameOf(request), request]));
  await database.query({
    name: 'claim_requests',
    text: `
      ${insertInto}
      select wallet, request_key, body_hmac, job_id, now() + make_interval(secs => seconds)
      from unnest($1::text[], $2::bytea[], $3::bytea[], $4::text[], $5::int[])
        as given (wallet, request_key, body_hmac, job_id, seconds)
      order by wallet, request_key
      ${onConflict}`,
    values: transpose<unknown>([...last.values()].map(valuesOf), 5),
  });
}

const nameOf = ({ wallet, requestKey }: NewRequest): string =>
  `${wallet} ${requestKey.toString('base64')}`;

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
