import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import type { Response } from 'express';
import { ApiError, ClientLeftError } from '../../api/contracts/errors.ts';
import type { KeyAdmission } from '../../api/http/middleware/authentication.ts';
import { LockUndecidedError } from '../../api/ledger/job.ts';
import { createChatFormat } from '../../api/response/chatFormat.ts';
import { createRequestIdentification } from '../../api/routes/completions.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/sendResult.ts';
import { createStubbedCompletions, job, messages, model, payer } from './completionScene.ts';
import { serveApp } from './serveApp.ts';

/** A request whose lock goes so. */
function begin(lock: (...lock: never[]) => Promise<never>, parts: object = {}) {
  const releaseReservation = jest.fn();
  const releaseClaim = jest.fn(async () => undefined);
  const completions = createStubbedCompletions({
    directory: { reserve: async () => ({ release: releaseReservation, worker: {} }) },
    escrow: { draft: () => ({ id: 'a job' }), lock },
    idempotency: {
      claim: async () => ({ status: 'new', release: releaseClaim }),
    },
    ...parts,
  });
  const completing = completions.complete({
    payer,
    identity: { mayRepeat: false },
    request: { model: model.id, messages },
    format: createChatFormat({ includeUsage: false }),
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
  const { completing, drain, releaseReservation, releaseClaim } = begin(() =>
    Promise.reject(error),
  );
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

describe('the first worker', () => {
  it('is asked once the lock was sent, and left when that is refused', async () => {
    const seen: string[] = [];
    const refused = Promise.withResolvers<never>();
    async function* submit(_task: unknown, connection: AbortSignal) {
      seen.push('asked');
      connection.addEventListener('abort', () => seen.push('left'));
      yield [];
    }
    const lock = (...[, , , onSent]: [unknown, unknown, unknown, () => void]) => {
      seen.push('lock');
      setImmediate(() => {
        seen.push('sent');
        onSent();
        setImmediate(() => refused.reject(away(null)));
      });
      return refused.promise;
    };
    const { completing } = begin(lock, { workers: { submit } });
    await expect(completing).rejects.toThrow('away');
    expect(seen).toEqual(['lock', 'sent', 'asked', 'left']);
  });
});

describe('a process that ends', () => {
  it('waits for a lock whose client has left, since its job has to be ended', async () => {
    const locking = Promise.withResolvers<never>();
    const { completing, drain } = begin(() => locking.promise);
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

it('an unexpected error in an answer returns credits and reservation', async () => {
  const fail = jest.fn(async () => ({ status: 'failed', signature: 'a failure' }));
  const release = jest.fn();
  async function* ask() {
    yield [{ type: 'content', text: 'Hello' }];
  }
  const completions = createStubbedCompletions({
    // What is missing of this reservation is met at the first text, as an error that no code expects.
    directory: {
      reserve: async () => ({ worker: { address: 'a worker', endpoint: '' }, release }),
    },
    escrow: {
      draft: () => ({ id: job.id }),
      ...{ lock: async () => job, acknowledge: () => undefined, fail },
      readPriced: async () => undefined,
    },
    idempotency: {
      claim: async () => ({ status: 'new', end: () => undefined, lost: () => undefined }),
    },
    workers: { submit: ask, stop: async () => undefined },
  });
  const app = await serveApp({
    completions,
    keys: { admit: async () => payer } as unknown as KeyAdmission,
    identify: createRequestIdentification(new Uint8Array(32)),
  });

  const answer = await fetch(`${app.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer svc_live_${'a'.repeat(32)}` },
    body: JSON.stringify({ model: model.id, messages }),
  });
  const { error } = (await answer.json()) as { error: { code: string; message: string } };
  await completions.drain();
  await app.close();

  expect([answer.status, error.code]).toEqual([500, 'internal_error']);
  expect(error.message).not.toContain('observeFirstToken');
  expect(fail.mock.calls).toEqual([[job, 'worker_error']]);
  expect(release).toHaveBeenCalledTimes(1);
});
