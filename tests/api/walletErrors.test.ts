import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Keypair, TransactionInstruction } from '@solana/web3.js';
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
  const { error } = (await response.json()) as { error?: { code: string; type: string } };
  return { status: response.status, ...error };
}

/** As the wallet's owner does, with the wallet's own signature. */
async function order(instruction: TransactionInstruction): Promise<void> {
  await submit(service.operator, [instruction], [wallet]);
}

function limit(limits: { job?: bigint; day?: bigint }): Promise<void> {
  const { job: limitPerJobCredits = NO_LIMIT, day: limitPerDayCredits = NO_LIMIT } = limits;
  return order(limitSet({ wallet: wallet.publicKey, limitPerJobCredits, limitPerDayCredits }));
}

const aboveLimit = { status: 403, code: 'spending_limit_exceeded', type: 'permission_error' };

describe('a wallet that limits what this service may lock', () => {
  it('refuses a job above its limit per job [errors.limits-of-wallet]', async () => {
    await limit({ job: 8n });
    expect(await complete()).toMatchObject({ status: 200 });
    expect(await complete({ max_tokens: 2_001 })).toMatchObject(aboveLimit);
  });

  it('refuses a job above its limit per day [errors.limits-of-wallet]', async () => {
    await limit({ day: 15n });
    expect(await complete()).toMatchObject(aboveLimit);
    await limit({ day: 16n });
    expect(await complete()).toMatchObject({ status: 200 });
    expect(await complete()).toMatchObject(aboveLimit);
  });

  it('is charged only for what was answered', async () => {
    await service.untilAccount(({ lockedCredits }) => lockedCredits === 0n);
    expect((await service.account()).availableCredits).toBe(service.boughtCredits - 16n);
  });
});

describe('a request with several faults, including one of its wallet,', () => {
  it.each([
    [{ messages: [] }, 'invalid_request'],
    [{ model: 'none' }, 'model_not_found'],
    [{ messages: [{ role: 'user', content: 'x'.repeat(300_000) }] }, 'context_length_exceeded'],
  ])(
    'gets the error of its body before that of its credits: %# [errors.order-of-checks]',
    async (change, code) => {
      const poor = await service.addWallet(1n);
      expect(await complete(change, poor.apiKey)).toMatchObject({ status: 400, code });
    },
  );

  it('gets its credits error before the worker error, and both before the lock [errors.order-of-checks]', async () => {
    await limit({ job: 0n });
    const poor = await service.addWallet(7n);
    await Promise.all(service.workers.map((worker) => worker.close()));
    await service.untilShown(async () => (await service.get('/v1/models')).data.length === 0);

    expect(await complete({}, poor.apiKey)).toMatchObject({ code: 'insufficient_credits' });
    expect(await service.time.advanceUntil(complete())).toMatchObject({
      ...{ status: 503, code: 'no_workers_available' },
    });
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
