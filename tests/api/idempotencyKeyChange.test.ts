import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type pg from 'pg';
import { createIdempotency } from '../../api/jobs/idempotency.ts';
import { createRequestIdentification } from '../../api/jobs/requestIdentity.ts';
import type { LookedUpStatus } from '../../api/ledger/jobLookup.ts';
import { createLogger } from '../../common/logger.ts';
import type { Database } from '../../common/postgres.ts';
import { createJobId, formatJobId } from '../../programs/client/jobId.ts';
import { NEIGHBOURING_STEPS, secretsKeySteps } from '../../testing/service/gatedService.ts';
import { KEPT_COPY } from './keptCopy.ts';
import { type KeyedDatabase, openKeyedDatabase } from './keyedDatabase.ts';

const NOW_MS = 1_800_000_000_000;

const STEPS = secretsKeySteps(randomBytes(32), randomBytes(32));

let keyed: KeyedDatabase;
let pool: pg.Pool;
/** Where each job stands; what is not in it exists nowhere. */
let statuses: Map<string, LookedUpStatus>;

beforeAll(async () => {
  keyed = await openKeyedDatabase();
  pool = keyed.pool;
});

afterAll(() => keyed.close());

beforeEach(async () => {
  statuses = new Map();
  await pool.query('truncate service.idempotent_requests');
});

interface Sent {
  body?: string;
  key?: string;
  retryCount?: string;
}

/** An API process at one of the steps. */
function processAt(
  step: number,
  parts: {
    database?: Database;
    findStatus?: (key: { jobId: string }) => Promise<LookedUpStatus | undefined>;
  } = {},
) {
  const [secret, previousSecret] = STEPS[step] as (typeof STEPS)[1];
  const identify = createRequestIdentification(secret, previousSecret);
  const idempotency = createIdempotency({
    database: pool,
    findStatus: async ({ jobId }) => statuses.get(jobId),
    nowMs: () => NOW_MS,
    failOrphan: async () => 'failed',
    logger: createLogger({ name: 'test', level: 'silent' }),
    ...parts,
  });
  const creditAccount = Keypair.generate().publicKey;

  async function claim({ body = '{}', key, retryCount }: Sent) {
    const jobId = formatJobId(createJobId({ nowMs: NOW_MS, creditAccount }).bytes);
    const request = identify({
      ...{ wallet: 'a wallet', apiKey: keyed.apiKey, rawBody: Buffer.from(body) },
      ...{ idempotencyKey: key, retryCount },
    });
    return { jobId, claim: await idempotency.claim(request, jobId) };
  }

  return {
    claim,
    /** @returns what became of it, or why it was refused, with the job that it is about */
    outcomeOf: (sent: Sent) =>
      claim(sent).then(
        ({ jobId, claim: made }) => [made.status, made.status === 'replay' ? made.jobId : jobId],
        ({ code, options }) => [code, options.details.job_id],
      ),
    /** Claims it and lets its job end so. */
    async run(sent: Sent, status: LookedUpStatus): Promise<string> {
      const { jobId, claim: made } = await claim(sent);
      if (made.status !== 'new') throw new Error('the request was taken for a repeat');
      await made.store(KEPT_COPY);
      made.lost();
      await idempotency.close();
      statuses.set(jobId, status);
      return jobId;
    },
  };
}

const rowCount = async () => (await pool.query('select from service.idempotent_requests')).rowCount;

describe.each([
  ['under its Idempotency-Key', { key: 'key-1' }, { key: 'key-1' }],
  ['silently', {}, { retryCount: '1' }],
] as const)('a request that is repeated %s while the key changes', (_how, first, again) => {
  it.each(NEIGHBOURING_STEPS)(
    'at step %i is answered again, not run again, at step %i',
    async (at, then) => {
      const jobId = await processAt(at).run(first, 'settled');
      const { claim } = await processAt(then).claim(again);
      expect(claim).toMatchObject({ status: 'replay', jobId, copy: KEPT_COPY });
      expect(await rowCount()).toBe(1);
    },
  );

  it.each(NEIGHBOURING_STEPS)(
    'at step %i is in use while it runs, at step %i too',
    async (at, then) => {
      const jobId = await processAt(at).run(first, 'processing');
      expect(await processAt(then).outcomeOf(again)).toEqual(['idempotency_key_in_use', jobId]);
      expect(await rowCount()).toBe(1);
    },
  );

  it.each(NEIGHBOURING_STEPS)(
    'was not charged at step %i and runs once more at step %i',
    async (at, then) => {
      await processAt(at).run(first, 'failed');
      const { jobId, claim } = await processAt(then).claim(again);
      expect(claim.status).toBe('new');
      expect(await processAt(at).outcomeOf(again)).toEqual(['idempotency_key_in_use', jobId]);
      expect(await rowCount()).toBe(1);
    },
  );

  it('runs in one process at most when many receive it', async () => {
    for (let round = 0; round < 10; round += 1) {
      await pool.query('truncate service.idempotent_requests');
      const processes = Array.from({ length: 8 }, (_, index) => processAt(1 + (index % 2)));
      const outcomes = await Promise.all(processes.map(({ outcomeOf }) => outcomeOf(again)));
      const news = outcomes.filter(([outcome]) => outcome === 'new');
      expect(news.length).toBeLessThanOrEqual(1);
      expect(await rowCount()).toBe(news.length);
    }
  });

  it('runs once when two processes look it up before either has claimed it', async () => {
    const outcomes: string[] = [];
    const other = processAt(1);
    const interrupted = {
      async query(...given: Parameters<Database['query']>) {
        const result = await pool.query(...given);
        if (JSON.stringify(given).includes('select_request') && outcomes.length === 0) {
          outcomes.push((await other.outcomeOf(again))[0]);
        }
        return result;
      },
    } as Database;
    outcomes.push((await processAt(2, { database: interrupted }).outcomeOf(again))[0]);
    expect(outcomes.sort()).toEqual(['idempotency_key_in_use', 'new']);
  });

  it('runs once when another process is just running it again', async () => {
    const jobId = await processAt(1).run(first, 'failed');
    let winner = '';
    const slow = processAt(2, {
      async findStatus() {
        if (winner === '') winner = (await processAt(0).claim(again)).jobId;
        return 'failed';
      },
    });
    expect(await slow.outcomeOf(again)).toEqual(['idempotency_key_in_use', winner]);
    expect(winner).not.toBe(jobId);
    expect(await rowCount()).toBe(1);
  });
});

describe('while the key changes,', () => {
  it('an Idempotency-Key is refused with another body', async () => {
    const jobId = await processAt(1).run({ key: 'key-1', body: '{"a":1}' }, 'settled');
    const refused = await processAt(2).outcomeOf({ key: 'key-1', body: '{"a":2}' });
    expect(refused).toEqual(['idempotency_key_mismatch', jobId]);
    expect(await rowCount()).toBe(1);
  });

  it('a request that cannot be a repeat has one name only', () => {
    const identify = createRequestIdentification(...STEPS[2]);
    const nameOf = (idempotencyKey?: string, retryCount?: string) =>
      identify({
        ...{ wallet: 'a wallet', apiKey: keyed.apiKey, rawBody: Buffer.from('{}') },
        ...{ idempotencyKey, retryCount },
      }).previousName;
    expect([nameOf(), nameOf(undefined, '0')]).toEqual([undefined, undefined]);
    expect([nameOf('key-1'), nameOf(undefined, '1')]).not.toContain(undefined);
  });
});
