import { randomBytes } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import type pg from 'pg';
import { createIdempotency, type Idempotency } from '../../api/jobs/idempotency.ts';
import type { RepeatServices } from '../../api/jobs/repeats.ts';
import type { LookedUpStatus } from '../../api/ledger/jobLookup.ts';
import { createRequestIdentification, type IdentifyRequest } from '../../api/routes/completions.ts';
import { createLogger } from '../../common/logger.ts';
import { type Database, inTransaction } from '../../common/postgres.ts';
import { createJobId, formatJobId } from '../../programs/client/jobId.ts';
import { KEPT_COPY } from './keptCopy.ts';
import { openKeyedDatabase } from './keyedDatabase.ts';

export const NOW_MS = 1_800_000_000_000;

const identifyRequest = createRequestIdentification(randomBytes(32));

const logger = createLogger({ name: 'test', level: 'silent' });

/** An id of that age by the ledger's time. */
export function newJobId(ageMs = 0): string {
  const creditAccount = Keypair.generate().publicKey;
  return formatJobId(createJobId({ nowMs: NOW_MS - ageMs, creditAccount }).bytes);
}

export interface Sent {
  body?: string;
  key?: string;
  apiKey?: string;
  retryCount?: string;
  wallet?: string;
}

/** Where a request is claimed, for which job, and under which secret; what is left out is new. */
interface Claiming {
  at?: Idempotency;
  jobId?: string;
  identify?: IdentifyRequest;
}

export function requestOf(sent: Sent, identify: IdentifyRequest = identifyRequest) {
  const { body = '{}', key: idempotencyKey, apiKey = 'svc_live_x', retryCount } = sent;
  const { wallet = 'a wallet' } = sent;
  return identify({ wallet, apiKey, rawBody: Buffer.from(body), idempotencyKey, retryCount });
}

export type RepeatScene = Awaited<ReturnType<typeof openRepeatScene>>;

/** A database of requests, and API processes on it whose jobs end as a test sets. */
export async function openRepeatScene() {
  const { pool, close } = await openKeyedDatabase();
  /** Where each job stands; what is not in it exists nowhere. */
  const statuses = new Map<string, LookedUpStatus>();
  /** Jobs that were ended because no process ran them. */
  const orphans: string[] = [];
  const started: Idempotency[] = [];

  const parts = (): RepeatServices => ({
    database: pool,
    findStatus: async ({ jobId }) => statuses.get(jobId),
    async failOrphan({ jobId }) {
      orphans.push(jobId);
      return 'failed';
    },
    nowMs: () => NOW_MS,
    logger,
  });

  /** A process, which ends with its test. */
  function start(other: Partial<RepeatServices> = {}): Idempotency {
    const one = createIdempotency({ ...parts(), ...other });
    started.push(one);
    return one;
  }

  async function claim(sent: Sent, { at = start(), jobId = newJobId(), identify }: Claiming = {}) {
    return { jobId, claim: await at.claim(requestOf(sent, identify), jobId) };
  }

  /** Claims what is no repeat. */
  async function begin(sent: Sent, options: Claiming = {}) {
    const { jobId, claim: made } = await claim(sent, options);
    if (made.status !== 'new') throw new Error('the request was taken for a repeat');
    return { jobId, claim: made };
  }

  return {
    ...{ pool, statuses, orphans, start, claim, begin },
    /** Claims it, and lets its job come to this. Its client has left by then, and its process ended. */
    async run(
      sent: Sent,
      status: LookedUpStatus | undefined,
      { stores = true, at = start(), ...options }: Claiming & { stores?: boolean } = {},
    ) {
      const { jobId, claim: made } = await begin(sent, { at, ...options });
      if (stores) await made.store(KEPT_COPY);
      made.end();
      made.lost();
      await at.close();
      if (status) statuses.set(jobId, status);
      return { jobId, claim: made };
    },
    /** What becomes of a request, or why it is refused, with the job that this is about. */
    async outcomeOf(sent: Sent, options: Claiming = {}) {
      return claim(sent, options).then(
        ({ jobId, claim: made }) => [made.status, made.status === 'replay' ? made.jobId : jobId],
        ({ code, options: { details } }) => [code, details.job_id],
      );
    },
    /** As if the processes had not renewed their leases. */
    setLease: (seconds: number, database: Database = pool) =>
      database.query(
        `update service.idempotent_requests
         set lease_expires_at = now() + make_interval(secs => $1)`,
        [seconds],
      ),
    /** For the database, a transaction is one moment, however long the test takes. */
    atOneMoment: <Result>(work: (database: pg.PoolClient, at: Idempotency) => Promise<Result>) =>
      inTransaction(pool, async (client) => {
        const at = start({ database: client, findStatus: async () => 'processing' });
        const result = await work(client, at);
        await at.close();
        return result;
      }),
    async rowCount() {
      return (await pool.query('select from service.idempotent_requests')).rowCount;
    },
    /** Before each test. */
    async clear() {
      for (const one of started.splice(0)) await one.close();
      statuses.clear();
      orphans.length = 0;
      await pool.query('truncate service.idempotent_requests, service.answer_copies');
    },
    async close() {
      for (const one of started.splice(0)) await one.close();
      await close();
    },
  };
}
