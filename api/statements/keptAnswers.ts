import type { Database } from '../../runtime/postgres.ts';
import { transpose } from './columns.ts';
import type { RequestKey } from './idempotentRequests.ts';

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
