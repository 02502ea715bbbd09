import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { createKey, hashKey, regenerateKey } from '../../api/services/keys.ts';
import {
  deleteRequest,
  pruneRequests,
  selectRequest,
} from '../../api/statements/idempotentRequests.ts';
import { storeAnswer, storeAnswers } from '../../api/statements/keptAnswers.ts';
import {
  claimRequest,
  claimRequests,
  type KeyedRequest,
  type NewRequest,
} from '../../api/statements/requestClaims.ts';
import { inTransaction } from '../../runtime/postgres.ts';
import { createRandom } from '../support/random.ts';
import { type KeyedDatabase, openKeyedDatabase } from './keyedDatabase.ts';

const random = createRandom();
const LIFETIME_SECONDS = 600;
const WALLETS = ['wallet 0', 'wallet 1', 'wallet 2'];
/** The key's hash of each wallet. */
const keys = new Map<string, string>();
/** Of a key that one of them had before. */
let oldKey: string;
let database: KeyedDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await openKeyedDatabase();
  pool = database.pool;
  for (const wallet of WALLETS) {
    oldKey = hashKey(await createKey(pool, wallet));
    keys.set(wallet, hashKey(await regenerateKey(pool, wallet)));
  }
});

afterAll(() => database.close());

beforeEach(async () => {
  await pool.query('truncate service.idempotent_requests');
});

const requestOf = (place: number, jobId = `job ${place}`): NewRequest & KeyedRequest => ({
  ...ofWallet(WALLETS[place % WALLETS.length] as string),
  requestKey: Buffer.from(`key ${place}`),
  bodyHmac: Buffer.from(`body ${place}`),
  jobId,
  lifetimeSeconds: LIFETIME_SECONDS,
});

function ofWallet(wallet: string) {
  return { wallet, keySha256: keys.get(wallet) as string };
}

const answerOf = ({ wallet, requestKey, jobId }: NewRequest) => ({
  ...{ wallet, requestKey, jobId, lifetimeSeconds: LIFETIME_SECONDS },
  sealed: Buffer.from(`answer of ${jobId}`),
});

function shuffled<Item>(items: readonly Item[]): Item[] {
  const rest = [...items];
  return items.map(() => rest.splice(random.below(rest.length), 1)[0] as Item);
}

/** Requests and answers go together, or one after the other; nobody can tell which. */
const forms: Record<string, { claim: typeof claimRequests; store: typeof storeAnswers }> = {
  'that share a statement': { claim: claimRequests, store: storeAnswers },
  'with a statement each': {
    async claim(database, requests) {
      const payers = [];
      for (const request of requests) payers.push(await claimRequest(database, request));
      return payers;
    },
    async store(database, answers) {
      for (const answer of answers) await storeAnswer(database, answer);
    },
  },
};

describe.each(Object.entries(forms))(
  `requests %s (seed ${random.seed})`,
  (_title, { claim, store }) => {
    it('are each kept with their own answer', async () => {
      const requests = Array.from({ length: 100 }, (_, place) => requestOf(place));
      await claim(pool, shuffled(requests));
      await store(pool, shuffled(requests).map(answerOf));
      for (const request of requests) {
        expect(await selectRequest(pool, request)).toEqual({
          job_id: request.jobId,
          body_hmac: request.bodyHmac,
          answer: Buffer.from(`answer of ${request.jobId}`),
        });
      }
    });

    it('leave the later one of two that are the same', async () => {
      const [first, second, other] = [requestOf(1, 'first'), requestOf(1, 'second'), requestOf(2)];
      await claim(pool, [first, other, second]);
      await store(pool, [answerOf(second), answerOf(other), answerOf(first)]);
      expect(await selectRequest(pool, first)).toMatchObject({
        job_id: 'second',
        answer: Buffer.from('answer of second'),
      });
      expect(await selectRequest(pool, other)).toMatchObject({ job_id: 'job 2' });
    });

    it('forget the answer to the one whose place they take', async () => {
      await claim(pool, [requestOf(1, 'earlier')]);
      await store(pool, [answerOf(requestOf(1, 'earlier'))]);
      await claim(pool, [requestOf(1, 'later'), requestOf(2)]);
      await store(pool, [answerOf(requestOf(1, 'earlier')), answerOf(requestOf(2))]);
      expect(await selectRequest(pool, requestOf(1))).toMatchObject({
        job_id: 'later',
        answer: null,
      });
    });

    it('are refused where their key is not active, and then change nothing', async () => {
      const [revoked, live] = [{ ...requestOf(2), keySha256: oldKey }, requestOf(2, 'live')];
      const unknown = { ...requestOf(1), keySha256: 'of no key' };
      const payers = await claim(pool, [live, unknown, requestOf(3), revoked]);
      expect(payers.map((payer) => payer?.wallet)).toEqual([
        'wallet 2',
        undefined,
        'wallet 0',
        undefined,
      ]);
      expect(await selectRequest(pool, live)).toMatchObject({ job_id: 'live' });
      expect(await selectRequest(pool, unknown)).toBeUndefined();
    });

    it('keep any bytes as they are', async () => {
      const request = { ...requestOf(1), requestKey: Buffer.alloc(0), bodyHmac: randomBytes(32) };
      const sealed = Buffer.from('"\\,{}null\0\xff', 'latin1');
      await claim(pool, [request]);
      await store(pool, [{ ...answerOf(request), sealed }]);
      expect(await selectRequest(pool, request)).toMatchObject({
        body_hmac: request.bodyHmac,
        answer: sealed,
      });
    });

    it('never wait for one another in a circle, whatever the order they come in', async () => {
      const places = Array.from({ length: 40 }, (_, place) => place);
      const instance = async (name: string) => {
        for (let round = 0; round < 25; round += 1) {
          const requests = places.map((place) => requestOf(place, `${name} ${round} ${place}`));
          await claim(pool, shuffled(requests));
          await store(pool, shuffled(requests).map(answerOf));
          await pruneRequests(pool);
          await deleteRequest(pool, requests[random.below(requests.length)] as NewRequest);
        }
      };
      await Promise.all(['a', 'b', 'c', 'd'].map(instance));
    });

    it('are not waited for by the pruning of what has expired', async () => {
      await claim(pool, [{ ...requestOf(1), lifetimeSeconds: -1 }, requestOf(2)]);
      await inTransaction(pool, async (client) => {
        await claim(client, [{ ...requestOf(1, 'again'), lifetimeSeconds: -1 }]);
        await pruneRequests(pool);
      });
      const { rows } = await pool.query(
        'select job_id from service.idempotent_requests order by 1',
      );
      expect(rows).toEqual([{ job_id: 'again' }, { job_id: 'job 2' }]);
      await pruneRequests(pool);
      const left = await pool.query('select job_id from service.idempotent_requests');
      expect(left.rows).toEqual([{ job_id: 'job 2' }]);
    });
  },
);
