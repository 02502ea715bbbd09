import { Keypair } from '@solana/web3.js';
import { type CompletionServices, createCompletions } from '../../api/jobs/completion.ts';
import { createLogger } from '../../common/logger.ts';

// What a whole service cannot be made to do at will: what each part of the request path does, and when.

export const model = {
  ...{ id: 'model', address: 'a model', tier: 'lite', retires_at: null },
  ...{ context_window_tokens: 1_000, credits_per_request: 2n, credits_per_1k_tokens: 4n },
  long_completion_threshold_tokens: 500,
};
export const payer = { wallet: 'a wallet', spender: null, available_credits: 100n, sequence: 1n };
export const messages = [{ role: 'user', content: 'Hello.' }];
export const programId = Keypair.generate().publicKey;
export const never = () => new Promise<never>(() => undefined);

/** A locked job of that model. */
export const job = {
  ...{ id: 'job_1', wallet: payer.wallet, model, tokenLimit: 10, lockCredits: 8n },
  ...{ address: Keypair.generate().publicKey, escrowTx: 'a lock' },
  deadlines: { stopAt: 100n, proofDueAt: 110n },
  requestSalt: new Uint8Array(32),
};

/** The request path with a test's own parts; what is measured goes nowhere. */
export function createStubbedCompletions(parts: object) {
  const ignore = () => undefined;
  return createCompletions({
    logger: createLogger({ name: 'test', level: 'silent' }),
    nowSeconds: () => 0n,
    clock: {
      nowSeconds: () => 0n,
      waitUntil: (at: bigint) => (at === undefined ? Promise.resolve() : never()),
    },
    programId,
    catalog: { find: () => model },
    formats: { judge: async () => undefined },
    ...{ observeStage: ignore, observeJob: ignore, observeLock: ignore, observeFirstToken: ignore },
    publicUrl: 'https://api.example.com',
    ...parts,
  } as unknown as CompletionServices);
}
