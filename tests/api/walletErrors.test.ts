import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Keypair, TransactionInstruction } from '@solana/web3.js';
import type { ErrorBody } from '../../api/contracts/errors.ts';
import { isoTime } from '../../common/format.ts';
import { limitSet, spenderSet } from '../../programs/client/instructions.ts';
import { submit } from '../../stack/operator.ts';
import { UNLIMITED } from '../../testing/kit/setUp.ts';
import { stopClock } from '../../testing/ledger/ledger.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';

const NO_LIMIT = 2n ** 64n - 1n;
let service: RunningService;
let wallet: Keypair;

beforeAll(async () => {
  service = await startRunningService();
  wallet = service.wallet;
  // A worker begins with the second after its start.
  await service.untilShown(
    async () => (await service.get('/v1/models')).data[0]?.svc.active_workers === 1,
  );
  // No daily limit is reset at midnight.
  await stopClock(service.ledger.connection);
});

afterAll(() => service.close());

const messages = [{ role: 'user', content: 'Say hello.' }];

async function complete(change: object = {}, apiKey = service.apiKey) {
  const response = await fetch(`${service.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ model: service.model.id, messages, ...change }),
  });
  const { error } = (await response.json()) as { error?: ErrorBody['error'] };
  return { status: response.status, ...error };
}

/** As the wallet's owner does, with the wallet's own signature. */
async function order(instruction: TransactionInstruction): Promise<void> {
  await submit(service.operator, [instruction], [wallet]);
}

/** Sets the wallet's limits, and waits until the API shows them. */
async function limit({ job = NO_LIMIT, day = NO_LIMIT }: { job?: bigint; day?: bigint }) {
  const limits = { limitPerJobCredits: job, limitPerDayCredits: day };
  await order(limitSet({ wallet: wallet.publicKey, ...limits }));
  const shownOf = (credits: bigint) => (credits === NO_LIMIT ? null : Number(credits));
  const shown = { per_job_credits: shownOf(job), per_day_credits: shownOf(day) };
  await until(async () => isDeepStrictEqual((await service.get('/v1/account')).limits, shown));
}

/** When the day ends that the stopped clock of the ledger is in. */
async function nextMidnight(): Promise<string> {
  const { connection } = service.ledger;
  const now = BigInt((await connection.getBlockTime(await connection.getSlot())) ?? 0);
  return isoTime((now / DAY_SECONDS + 1n) * DAY_SECONDS);
}

const DAY_SECONDS = 86_400n;
const aboveLimit = { status: 403, code: 'spending_limit_exceeded', type: 'permission_error' };

describe('a wallet that limits what this service may lock', () => {
  it('refuses a job above its limit per job [errors.limits-of-wallet]', async () => {
    await limit({ job: 8n });
    expect(await complete()).toMatchObject({ status: 200 });
    expect(await complete({ max_tokens: 2_001 })).toMatchObject({
      ...aboveLimit,
      details: { limit: 8, credits_required: 9 },
    });
  });

  it('refuses a job above its limit per day [errors.limits-of-wallet]', async () => {
    await limit({ day: 15n });
    const details = { resets_at: await nextMidnight(), credits_required: 8 };
    expect(await complete()).toMatchObject({
      ...aboveLimit,
      details: { ...details, limit: 15, left: 7 },
    });
    await limit({ day: 16n });
    expect(await complete()).toMatchObject({ status: 200 });
    expect(await complete()).toMatchObject({
      ...aboveLimit,
      details: { ...details, limit: 16, left: 0 },
    });
  });

  it('answers what its limit per day bears of many requests at once', async () => {
    await limit({ day: 40n });
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        complete({ messages: [{ role: 'user', content: `Say hello to ${at}.` }] }),
      ),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(3);
    for (const answer of refused) {
      expect(answer).toMatchObject({ ...aboveLimit, details: { limit: 40, left: 0 } });
    }
  });

  it('is charged only for what was answered', async () => {
    await service.untilAccount(({ lockedCredits }) => lockedCredits === 0n);
    expect((await service.account()).availableCredits).toBe(service.boughtCredits - 40n);
    await until(async () => (await service.get('/v1/account')).locked_now_credits === 0);
    expect(await service.get('/v1/account')).toMatchObject({ charged_today_credits: 40 });
  });

  it('begins with a whole limit after midnight UTC', async () => {
    await service.advanceSeconds(Number(DAY_SECONDS));
    expect(await service.get('/v1/account')).toMatchObject({ charged_today_credits: 0 });
    expect(await complete()).toMatchObject({ status: 200 });
    expect(await service.get('/v1/account')).toMatchObject({ charged_today_credits: 8 });
  });
});

describe('a request with several faults, including one of its wallet,', () => {
  it.each([
    ['its body', { messages: [] }, 'invalid_request'],
    ['its model', { model: 'none' }, 'model_not_found'],
    // Its body is not read.
    ['its credits, above 16 KiB', { model: 'none'.repeat(5_000) }, 'insufficient_credits'],
  ])('gets first the error of %s [errors.order-of-checks]', async (_what, change, code) => {
    const poor = await service.addWallet(1n);
    expect(await complete(change, poor.apiKey)).toMatchObject({ code });
  });

  it('gets its credits error before the worker error, and both before the lock [errors.order-of-checks]', async () => {
    await limit({ job: 7n });
    const poor = await service.addWallet(7n);
    await Promise.all(service.workers.map((worker) => worker.close()));
    await service.untilShown(async () => (await service.get('/v1/models')).data.length === 0);

    expect(await complete({}, poor.apiKey)).toMatchObject({ code: 'insufficient_credits' });
    expect(await complete()).toMatchObject(aboveLimit);
    await limit({});
    const { sequence } = await service.account();
    expect(await service.time.advanceUntil(complete())).toMatchObject({
      ...{ status: 503, code: 'no_workers_available' },
    });
    expect((await service.account()).sequence).toBe(sequence);
  });

  it('gets the error of its spender before that of its body [errors.limits-of-wallet]', async () => {
    await order(
      spenderSet({
        wallet: wallet.publicKey,
        spender: service.arbiter.publicKey,
        ...UNLIMITED,
      }),
    );
    const answer = () => complete({ messages: [] });
    await until(async () => (await answer()).status !== 400);
    expect(await answer()).toMatchObject({
      status: 403,
      code: 'spender_not_set',
      type: 'permission_error',
    });
  });
});
