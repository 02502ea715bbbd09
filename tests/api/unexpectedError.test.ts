import { describe, expect, it, jest } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type { KeyAdmission } from '../../api/http/middleware/authentication.ts';
import { type CompletionServices, createCompletions } from '../../api/jobs/completion.ts';
import { createRequestIdentification } from '../../api/jobs/requestIdentity.ts';
import { createLogger } from '../../common/logger.ts';
import { serveApp } from './serveApp.ts';

// What a whole service cannot be made to do at will: an error that no code expects.

const KEY = `svc_live_${'a'.repeat(32)}`;
const model = {
  ...{ id: 'small', address: 'a model', tier: 'lite', retires_at: null },
  ...{ context_window_tokens: 1_000, credits_per_request: 2n, credits_per_1k_tokens: 4n },
  long_completion_threshold_tokens: 500,
};
const payer = { wallet: 'a wallet', spender: null, available_credits: 100n, sequence: 1n };
const job = {
  ...{
    id: 'job_1',
    wallet: payer.wallet,
    model,
    ...{ tokenLimit: 10, requestSalt: new Uint8Array(32) },
    lockCredits: 8n,
    escrowTx: 'a lock',
  },
  ...{ address: Keypair.generate().publicKey, deadlines: { stopAt: 100n } },
};

/** A service whose job fails in the middle of its answer, once it is locked. */
function createFailing() {
  const fail = jest.fn(async () => ({ status: 'failed', signature: 'a failure' }));
  const release = jest.fn();
  async function* ask() {
    yield [{ type: 'content', text: 'Hello' }];
  }
  const completions = createCompletions({
    logger: createLogger({ name: 'test', level: 'silent' }),
    nowSeconds: () => 0n,
    clock: { nowSeconds: () => 0n, waitUntil: () => new Promise(() => undefined) },
    programId: Keypair.generate().publicKey,
    catalog: { find: () => model },
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
    observeStage: () => undefined,
    observeJob: () => undefined,
    observeLock: () => undefined,
    publicUrl: 'https://api.example.com',
  } as unknown as CompletionServices);
  return { completions, fail, release };
}

describe('an unexpected error in the middle of an answer', () => {
  it('returns the credits and the reservation, and shows no internals', async () => {
    const { completions, fail, release } = createFailing();
    const app = await serveApp({
      completions,
      keys: { admit: async () => payer } as unknown as KeyAdmission,
      identify: createRequestIdentification(new Uint8Array(32)),
    });

    const answer = await fetch(`${app.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}` },
      body: JSON.stringify({ model: model.id, messages: [{ role: 'user', content: 'Hello.' }] }),
    });
    const { error } = (await answer.json()) as { error: { code: string; message: string } };
    await completions.drain();
    await app.close();

    expect([answer.status, error.code]).toEqual([500, 'internal_error']);
    expect(error.message).not.toContain('observeFirstToken');
    expect(fail.mock.calls).toEqual([[job, 'worker_error']]);
    expect(release).toHaveBeenCalledTimes(1);
  });
});
