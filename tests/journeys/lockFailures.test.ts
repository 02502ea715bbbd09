import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { modelUpsert } from '../../programs/client/instructions.ts';
import { submit } from '../../stack/operator.ts';
import { LONG_BLOCKHASH_MS } from '../../testing/ledger/ledger.ts';
import { sentToProgram } from '../../testing/ledger/ledgerGate.ts';
import { readBooks, untilEnded } from '../../testing/ledger/walletBooks.ts';
import { type GatedService, startGatedService } from '../../testing/service/gatedService.ts';
import {
  expectUnavailable,
  FORMS,
  ROUTED_FORMS,
  type RoutedForm,
  requestCompletion,
} from '../../testing/service/requestCompletion.ts';
import { until } from '../../testing/until.ts';

const CREDITS = 100n;

let service: GatedService;

beforeAll(async () => {
  service = await startGatedService();
});

afterEach(() => service.ledgerGate.open());

afterAll(() => service?.close());

describe('a lock that is not confirmed in 10 s', () => {
  it('makes a 503, plain and streamed, and is reverted at once when it lands [failures.lock-late]', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const heard = Promise.withResolvers<void>();
    service.ledgerGate.intercept(async (request, forward) => {
      if (request.method === 'getSignatureStatuses') await heard.promise;
      const answer = await forward(request);
      // What an unreliable ledger loses would not be sent again before a status is known.
      if (request.method === 'sendTransaction') await forward(request);
      return answer;
    });
    const asking = ROUTED_FORMS.map(([form, route]) =>
      requestCompletion(service, { form, route, apiKey }),
    );
    for (const answer of await service.time.advanceUntil(Promise.all(asking))) {
      expectUnavailable(answer);
    }
    await until(async () => (await readBooks(service, address)).locked === 32n);
    heard.resolve();
    const taken = { status: 'failed', reason: 'lock_late', charged: 0n };
    expect(await untilEnded(service, address, asking.length)).toEqual({
      ...{ available: CREDITS, locked: 0n },
      jobs: asking.map(() => taken),
    });
    await service.expectConserved();
  });

  it('leaves nothing when it never lands, so the same request may run again [failures.lock-late]', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const lost = Promise.withResolvers<never>();
    lost.promise.catch(() => undefined);
    service.ledgerGate.intercept((request, forward) =>
      request.method === 'sendTransaction' ? lost.promise : forward(request),
    );
    const ask = ([form, route]: RoutedForm) => {
      const headers = { 'idempotency-key': `${form}-${route}` };
      return requestCompletion(service, { form, route, apiKey, headers });
    };
    const asking = Promise.all(ROUTED_FORMS.map(ask));
    for (const answer of await service.time.advanceUntil(asking)) expectUnavailable(answer);
    expect(await readBooks(service, address)).toEqual({ available: CREDITS, locked: 0n, jobs: [] });
    service.ledgerGate.open();
    lost.reject(new Error('lost on its way'));
    // What was lost can land no more.
    await service.advanceSeconds(LONG_BLOCKHASH_MS / 1_000);
    for (const each of ROUTED_FORMS) {
      let answer = await ask(each);
      // Until the API has found the lock dead.
      while (answer.status === 409) {
        expect(answer.error?.code).toBe('idempotency_key_in_use');
        answer = await ask(each);
      }
      expect(answer.status).toBe(200);
    }
    const charged = { status: 'settled', reason: 'none', charged: 8n };
    expect(await untilEnded(service, address, ROUTED_FORMS.length)).toEqual({
      ...{ available: CREDITS - 32n, locked: 0n },
      jobs: ROUTED_FORMS.map(() => charged),
    });
  });
});

describe.each(FORMS)('a price increase between quote and lock, %s,', (form) => {
  /** Raises the price by a credit before each of the next locks is passed on. */
  function raiseBeforeLocks(times: number): void {
    let left = times;
    service.ledgerGate.intercept(async (request, forward) => {
      if (left > 0 && sentToProgram(request, 'job_lock')) {
        left -= 1;
        await raisePrice();
      }
      return forward(request);
    });
  }

  it('leads to a second quote, and the new price is charged [charging.quoted-once-more]', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    const price = await priceNow();
    raiseBeforeLocks(1);
    const answer = await requestCompletion(service, { form, apiKey });
    expect(answer).toMatchObject({ status: 200, error: undefined });
    expect(await untilEnded(service, address, 1)).toEqual({
      ...{ available: CREDITS - (price + 1n), locked: 0n },
      jobs: [{ status: 'settled', reason: 'none', charged: price + 1n }],
    });
    await service.expectConserved();
  });

  it('leads to a 503 without a charge when it happens twice [charging.quoted-once-more]', async () => {
    const { address, apiKey } = await service.addWallet(CREDITS);
    raiseBeforeLocks(2);
    const answer = await requestCompletion(service, { form, apiKey });
    expectUnavailable(answer);
    expect(answer.error?.message).toMatch('price');
    expect(await readBooks(service, address)).toEqual({ available: CREDITS, locked: 0n, jobs: [] });
  });
});

async function priceNow(): Promise<bigint> {
  const { rows } = await service.pool.query<{ price: bigint }>(
    'select credits_per_request as price from mirror.models where id = $1',
    [service.model.id],
  );
  return rows[0]?.price as bigint;
}

async function raisePrice(): Promise<void> {
  const { operator, model } = service;
  const price = (await priceNow()) + 1n;
  const upsert = modelUpsert({
    ...model,
    tier: model.tier,
    creditsPerRequest: Number(price),
    authority: operator.authority.publicKey,
  });
  await submit(operator, [upsert]);
  await until(async () => (await priceNow()) === price);
}
