import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import type { Response } from 'express';
import { ApiError, ClientLeftError } from '../../api/contracts/errors.ts';
import { LockUndecidedError } from '../../api/ledger/results.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/sendResult.ts';
import { createStubbedCompletions, messages, model, payer } from './completionScene.ts';

/** A request whose lock comes to that. */
function begin(locking: Promise<never>) {
  const releaseReservation = jest.fn();
  const releaseClaim = jest.fn(async () => undefined);
  const completions = createStubbedCompletions({
    directory: { reserve: async () => ({ release: releaseReservation }) },
    escrow: { draft: () => ({ id: 'a job' }), lock: () => locking },
    idempotency: {
      claim: async () => ({ status: 'new', release: releaseClaim }),
    },
  });
  const completing = completions.complete({
    payer,
    identity: { mayRepeat: false },
    request: { model: model.id, messages },
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
