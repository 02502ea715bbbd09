import { describe, expect, it } from '@jest/globals';
import type { ChatCompletionRequest } from '../../api/contracts/chatCompletion.ts';
import { ApiError } from '../../api/contracts/errors.ts';
import { assertAffordable, quote } from '../../api/jobs/admission.ts';
import type { Quote } from '../../api/ledger/job.ts';
import type { Funds } from '../../api/sql/accounts.ts';
import type { ModelRow } from '../../api/sql/workers.ts';
import { countWith, type TokenCounts } from '../../common/tokenizers/tokenCounts.ts';
import { NO_LIMIT } from '../../programs/client/generated/constants.ts';

const standard: ModelRow = {
  address: 'unused',
  id: 'standard-model',
  tier: 'standard',
  label: '8B',
  originator: 'Somebody',
  context_window_tokens: 32_768,
  credits_per_request: 8,
  credits_per_1k_tokens: 4,
  long_completion_threshold_tokens: 500,
  created_at: 0n,
  retires_at: null,
  card_hash: null,
};

function request(change: Partial<ChatCompletionRequest> = {}): ChatCompletionRequest {
  return {
    model: standard.id,
    messages: [{ role: 'user', content: 'hi' }],
    ...change,
  } as ChatCompletionRequest;
}

const estimates = countWith(undefined);

function quoteOf(
  change: Partial<ChatCompletionRequest> = {},
  tokens: Pick<TokenCounts, 'prompt'> = estimates,
): Promise<Quote> {
  return quote(standard, request(change), tokens);
}

const TODAY = 20_000n;
const NOW_SECONDS = TODAY * 86_400n;
/** Of a wallet that sets no limits, and has spent 3 credits today. */
const fundsOf = (available_credits: bigint): Funds => ({
  ...{ available_credits, limit_per_job_credits: NO_LIMIT, limit_per_day_credits: NO_LIMIT },
  ...{ spent_day: TODAY, spent_today_credits: 3n },
});

const prompt = (bytes: number) => [{ role: 'user' as const, content: 'x'.repeat(bytes) }];

describe('a quote', () => {
  it('locks the default of its tier where no limit is requested [charging.default-limit]', async () => {
    expect(await quoteOf()).toMatchObject({ tokenLimit: 2_000, lockCredits: 8n });
  });

  it.each([
    [1, 8n],
    [500, 8n],
    [501, 8n],
    [2_000, 8n],
    [2_001, 9n],
    [10_000, 40n],
  ])('for %i tokens locks %s credits [charging.lock-amount]', async (max_tokens, credits) => {
    expect((await quoteOf({ max_tokens })).lockCredits).toBe(credits);
  });

  it('accepts the limit under either of its names', async () => {
    const named = { max_completion_tokens: 10_000 };
    expect(await quoteOf(named)).toMatchObject({ tokenLimit: 10_000, lockCredits: 40n });
    const short = { max_completion_tokens: 3 };
    expect(await quoteOf(short)).toMatchObject({ tokenLimit: 3, lockCredits: 8n });
  });

  it('never allows more tokens than the context window leaves [models.context-window]', async () => {
    const asked = { max_tokens: 10_000, messages: prompt(8 * 30_000) };
    expect((await quoteOf(asked)).tokenLimit).toBe(2_768);
  });

  it('refuses messages that fill the context window and returns their size [models.context-window]', async () => {
    await expect(quoteOf({ messages: prompt(8 * 32_768) })).rejects.toMatchObject({
      code: 'context_length_exceeded',
      options: {
        param: 'messages',
        details: { prompt_tokens_at_least: 32_768, context_window: 32_768 },
      },
    });
  });

  it("counts with the model's tokenizer when that decides the room left", async () => {
    const tokens = { prompt: async () => 32_000 };
    const messages = prompt(32_000);
    expect((await quoteOf({ messages, max_tokens: 10_000 }, tokens)).tokenLimit).toBe(768);
    expect((await quoteOf({ messages, max_tokens: 768 }, tokens)).tokenLimit).toBe(768);
  });

  it('does not count tokens when the bytes alone fit', async () => {
    const tokens = { prompt: () => Promise.reject(new Error('was counted')) };
    const asked = { messages: prompt(30_768), max_tokens: 2_000 };
    expect((await quoteOf(asked, tokens)).tokenLimit).toBe(2_000);
    await expect(quoteOf({ ...asked, max_tokens: 2_001 }, tokens)).rejects.toThrow('was counted');
  });

  it('shows a wallet with too little what it could afford [errors.insufficient-credits]', async () => {
    const quoted = await quoteOf({ max_tokens: 10_000 });
    const act = () => assertAffordable(quoted, fundsOf(20n), NOW_SECONDS);
    expect(act).toThrow(ApiError);
    expect(act).toThrow(
      expect.objectContaining({
        options: {
          details: {
            credits_remaining: 20,
            credits_required: 40,
            tier: 'standard',
            affordable_max_tokens: 5_000,
          },
        },
      }),
    );
  });

  it('allows a wallet to spend its last credit', async () => {
    const quoted = await quoteOf();
    const act = (credits: bigint) => () => assertAffordable(quoted, fundsOf(credits), NOW_SECONDS);
    expect(act(8n)).not.toThrow();
    expect(act(7n)).toThrow(ApiError);
  });

  it('allows what the limits leave, and refuses one credit more', async () => {
    const quoted = await quoteOf();
    const limitedTo = (limits: Partial<Funds>) => () =>
      assertAffordable(quoted, { ...fundsOf(100n), ...limits }, NOW_SECONDS);
    const above = expect.objectContaining({ code: 'spending_limit_exceeded' });
    expect(limitedTo({ limit_per_job_credits: 8n })).not.toThrow();
    expect(limitedTo({ limit_per_job_credits: 7n })).toThrow(above);
    expect(limitedTo({ limit_per_day_credits: 11n })).not.toThrow();
    expect(limitedTo({ limit_per_day_credits: 10n })).toThrow(above);
    expect(limitedTo({ limit_per_day_credits: 8n, spent_day: TODAY - 1n })).not.toThrow();
  });
});
