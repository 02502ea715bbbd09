import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import type { Response } from 'express';
import { ApiError, ClientLeftError } from '../../api/contracts/errors.ts';
import { type CompletionServices, createCompletions } from '../../api/jobs/completion.ts';
import { LockUndecidedError } from '../../api/ledger/results.ts';
import { createLogger } from '../../common/logger.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/sendResult.ts';

// What a whole service cannot be made to do at will: how a lock fails.

const model = {
  ...{ id: 'small', address: 'a model', tier: 'lite', retires_at: null },
  ...{ context_window_tokens: 1_000, credits_per_request: 2, credits_per_1k_tokens: 4 },
  long_completion_threshold_tokens: 500,
};

/** A request whose lock comes to that. */
function begin(locking: Promise<never>) {
  const releaseReservation = jest.fn();
  const releaseClaim = jest.fn(async () => undefined);
  const payer = { wallet: 'a wallet', spender: null, available_credits: 100n };
  const completions = createCompletions({
    logger: createLogger({ name: 'test', level: 'silent' }),
    nowSeconds: () => 0n,
    catalog: { find: () => model },
    directory: { reserve: async () => ({ release: releaseReservation }) },
    escrow: { draft: () => ({ id: 'a job' }), lock: () => locking },
    idempotency: {
      claim: async () => ({ status: 'new', release: releaseClaim }),
    },
  } as unknown as CompletionServices);
  const request = { model: model.id, messages: [{ role: 'user', content: 'Hello.' }] };
  const completing = completions.complete({
    payer,
    identity: { mayRepeat: false },
    request,
    response: {
      closed: false,
      once: () => undefined,
      locals: { trace: {} },
    } as unknown as Response,
  } as unknown as Parameters<typeof completions.complete>[0]);
  return { completing, drain: completions.drain, releaseReservation, releaseClaim };
}

/** One request whose lock fails so; resolves when all its work has ended. */
async function fail(error: Error) {
  const { completing, drain, releaseReservation, releaseClaim } = begin(Promise.reject(error));
  await expect(completing).rejects.toBe(error);
  await drain();
  expect(releaseReservation).toHaveBeenCalledTimes(1);
  return { isForgotten: releaseClaim.mock.calls.length === 1 };
}

const away = (signature: string | null) => new LedgerUnavailableError('away', { signature });

describe('a request releases its worker and', () => {
  it.each([
    ['was refused', new ApiError('service_unavailable', 'New jobs are paused.')],
    ['was not sent', away(null)],
    ['was not sent, since its client left', new ClientLeftError()],
    ['was undone after its time', new LockUndecidedError(Promise.resolve('undone'))],
  ])('may be retried at once when its lock %s', async (_how, error) => {
    expect(await fail(error)).toEqual({ isForgotten: true });
  });

  it.each([
    ['was sent and its fate is unknown', away('a signature')],
    ['was left to the keeper', new LockUndecidedError(Promise.resolve('left'))],
    ['failed unexpectedly', new Error('unforeseen')],
  ])('may not run again, since it may be charged, when its lock %s', async (_how, error) => {
    expect(await fail(error)).toEqual({ isForgotten: false });
  });
});

describe('a process that ends', () => {
  it('waits for a lock whose client has left, since its job has to be ended', async () => {
    const locking = Promise.withResolvers<never>();
    const { completing, drain } = begin(locking.promise);
    let isDrained = false;
    const draining = drain().then(() => {
      isDrained = true;
    });
    await nextTurn();
    expect(isDrained).toBe(false);
    locking.reject(away(null));
    await expect(completing).rejects.toThrow('away');
    await draining;
  });
});
