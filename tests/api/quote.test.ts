import { describe, expect, it } from '@jest/globals';
import { assertAffordable, quote } from '../../api/completion/quote.ts';
import type { ChatCompletionRequest } from '../../api/contracts/chatCompletion.ts';
import { ApiError } from '../../api/errors.ts';
import type { ModelRow } from '../../api/statements/models.ts';

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
};

function request(change: Partial<ChatCompletionRequest> = {}): ChatCompletionRequest {
  return {
    model: standard.id,
    messages: [{ role: 'user', content: 'hi' }],
    ...change,
  } as ChatCompletionRequest;
}

describe('the quote of a request', () => {
  it('locks what the tier says when no limit is asked for, with the tokens that covers', () => {
    expect(quote(standard, request())).toMatchObject({ tokenLimit: 2_000, lockCredits: 8n });
  });

  it.each([
    [1, 8n],
    [500, 8n],
    [501, 8n],
    [2_000, 8n],
    [2_001, 9n],
    [10_000, 40n],
  ])('for %i tokens locks %s credits', (max_tokens, credits) => {
    expect(quote(standard, request({ max_tokens })).lockCredits).toBe(credits);
  });

  it('never allows more tokens than the context window leaves', () => {
    const content = 'x'.repeat(8 * 30_000);
    const asked = request({ max_tokens: 10_000, messages: [{ role: 'user', content }] });
    expect(quote(standard, asked).tokenLimit).toBe(2_768);
  });

  it('refuses messages that fill the context window and says how much they hold', () => {
    const content = 'x'.repeat(8 * 32_768);
    const act = () => quote(standard, request({ messages: [{ role: 'user', content }] }));
    expect(act).toThrow(
      expect.objectContaining({
        code: 'context_length_exceeded',
        options: {
          param: 'messages',
          details: { prompt_tokens: 32_768, context_window: 32_768 },
        },
      }),
    );
  });

  it('tells a wallet with too little what it could afford', () => {
    const act = () => assertAffordable(quote(standard, request({ max_tokens: 10_000 })), 20n);
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

  it('lets a wallet spend its last credit', () => {
    expect(() => assertAffordable(quote(standard, request()), 8n)).not.toThrow();
    expect(() => assertAffordable(quote(standard, request()), 7n)).toThrow(ApiError);
  });
});
