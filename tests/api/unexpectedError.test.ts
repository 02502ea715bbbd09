import { expect, it, jest } from '@jest/globals';
import type { KeyAdmission } from '../../api/http/middleware/authentication.ts';
import { createRequestIdentification } from '../../api/jobs/requestIdentity.ts';
import { createStubbedCompletions, job, messages, model, payer } from './completionScene.ts';
import { serveApp } from './serveApp.ts';

it('an unexpected error in the middle of an answer returns credits and reservation', async () => {
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
