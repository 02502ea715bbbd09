import { describe, expect, it } from '@jest/globals';
import { type Admitted, admit } from '../../api/jobs/admission.ts';

// Errors before any lock.

const MODEL = {
  ...{ id: 'small', address: 'a model', tier: 'lite', retires_at: null },
  ...{ context_window_tokens: 1_000, credits_per_request: 2, credits_per_1k_tokens: 4 },
  long_completion_threshold_tokens: 500,
};

/** Asks for a place at workers of which so many are active, and none is free. */
function admitTo({
  model = MODEL.id,
  active = 0,
  reason,
}: {
  model?: string;
  active?: number;
  reason?: string;
}) {
  const services = {
    catalog: { find: (id: string) => (id === MODEL.id ? MODEL : undefined) },
    nowSeconds: () => 0n,
    directory: {
      reserve: async () => undefined,
      active: () => Array.from({ length: active }),
      retryAfterSeconds: () => 7,
      unreadyReason: () => reason,
    },
  } as unknown as Parameters<typeof admit>[0];
  const options = {
    payer: { wallet: 'a wallet', available_credits: 100n },
    request: { model, messages: [{ role: 'user', content: 'Hello.' }] },
    clientGone: new AbortController().signal,
  } as unknown as Parameters<typeof admit>[1];
  return admit(services, options).then(
    (admitted: Admitted) => admitted,
    ({ code, message, options: { retryAfterSeconds } }) => ({ code, message, retryAfterSeconds }),
  );
}

describe('a request for a model without a free worker', () => {
  it.each([
    [0, 'No worker of small can be reached.'],
    [1, 'All workers of small are busy.'],
    [2, 'All workers of small are busy.'],
  ])('gets 503 with the reason, of %i healthy ones', async (active, message) => {
    expect(await admitTo({ active })).toEqual({
      code: 'no_workers_available',
      message,
      retryAfterSeconds: 7,
    });
  });

  it('gets the reason that a worker on the same machine gives', async () => {
    const reason = 'The upstream is not ready: nothing listens at its address (ECONNREFUSED)';
    expect(await admitTo({ reason })).toMatchObject({
      message: `No worker of small can be reached. One here says: ${reason}.`,
    });
    expect(await admitTo({ active: 1, reason })).toMatchObject({
      message: 'All workers of small are busy.',
    });
  });
});

describe('a request for a model that does not exist', () => {
  it.each([
    [256, `the id '${'x'.repeat(256)}'`],
    [257, 'an id that long'],
  ])('gets 400 with its id of %i characters, unless that is too long', async (length, shown) => {
    expect(await admitTo({ model: 'x'.repeat(length) })).toMatchObject({
      code: 'model_not_found',
      message: `No model has ${shown}.`,
    });
  });
});
