import type { Database } from '../../common/postgres.ts';
import {
  ifOver,
  insertInto,
  type LeaseKey,
  leaseEnd,
  NEW_FIELDS,
  type NewRequest,
  onConflict,
  type RequestKey,
  twinKey,
} from './requests.ts';

// What a repeat does with the rows of earlier requests: it finds them, and takes their place or answer.

/** The sealed answer of an earlier request; null when it was never stored, or its time is over. */
export async function selectAnswer(database: Database, jobId: string): Promise<Buffer | null> {
  const { rows } = await database.query<{ answer: Buffer }>({
    name: 'select_answer',
    text: 'select answer from service.answer_copies where job_id = $1 and expires_at > now()',
    values: [jobId],
  });
  return rows[0]?.answer ?? null;
}

/** What is known of an earlier request. */
export interface IdempotentRequestRow {
  request_key: Buffer;
  job_id: string;
  body_hmac: Buffer;
  /** How long the lease lasts, in seconds; not above 0 once it is over. */
  lease_seconds: number;
  /** Whether its answer may have been lost: its connection is over, or its process gone. */
  is_lost: boolean;
}

/** So many of one name are looked at: each that is answered or runs again makes room for the next. */
const ROWS_MAX = 16;

/**
 * The requests of this name, first those whose answer may have been lost, and of these the newest. A
 * request without an Idempotency-Key has the name's own key, and twins beside it one that begins so.
 */
export async function selectRequests(
  database: Database,
  { wallet, requestKey }: RequestKey,
  { hasTwins }: { hasTwins: boolean },
): Promise<IdempotentRequestRow[]> {
  const { rows } = await database.query<IdempotentRequestRow>({
    name: 'select_requests',
    text: `
      select request_key, job_id, body_hmac,
        extract(epoch from lease_expires_at - now())::float8 as lease_seconds,
        lost_at is not null or lease_expires_at <= now() as is_lost
      from service.idempotent_requests
      where wallet = $1 and request_key between $2 and $3 and expires_at > now()
      order by is_lost desc, job_id desc
      limit ${ROWS_MAX}`,
    values: [wallet, requestKey, hasTwins ? twinKey(requestKey, '\u00ff') : requestKey],
  });
  return rows;
}

const valuesOf = (request: NewRequest) => NEW_FIELDS.map((field) => request[field]);

const upsert = `
  ${insertInto}
  values ($1, $2, $3, $4, now() + make_interval(secs => $5), ${leaseEnd}, null)
  ${onConflict}`;

/** @returns whether it was stored; false when there is one that has not expired */
export async function insertRequest(database: Database, request: NewRequest): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'insert_request',
    text: `${upsert} ${ifOver}`,
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

/**
 * Takes the lease of a request whose process has not renewed it. The request stays this job's: it is
 * the holder's to end.
 *
 * @param holder the job that the request is to become
 * @returns whether the lease was over
 */
export async function takeLease(
  database: Database,
  { wallet, requestKey, jobId }: LeaseKey,
  holder: string,
): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'take_lease',
    text: `
      update service.idempotent_requests set leased_by = $4, lease_expires_at = ${leaseEnd}
      where wallet = $1 and request_key = $2 and job_id = $3 and lease_expires_at <= now()`,
    values: [wallet, requestKey, jobId, holder],
  });
  return rowCount === 1;
}

/**
 * Takes a request whose answer may have been lost, to give it again.
 *
 * @param holder the job that the repeat would have become
 * @returns whether it took it: no other repeat has it
 */
export async function takeLost(
  database: Database,
  { wallet, requestKey, jobId }: LeaseKey,
  holder: string,
): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'take_lost',
    text: `
      update service.idempotent_requests
      set lost_at = null, leased_by = null, lease_expires_at = ${leaseEnd}
      where wallet = $1 and request_key = $2 and job_id = $3
        and (lost_at is not null or lease_expires_at <= now() or leased_by = $4)`,
    values: [wallet, requestKey, jobId, holder],
  });
  return rowCount === 1;
}
