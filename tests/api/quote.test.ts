import { describe, expect, it } from '@jest/globals';
import type { ChatCompletionRequest } from '../../api/contracts/chatCompletion.ts';
import { ApiError } from '../../api/contracts/errors.ts';
import { type Admitted, admit, assertAffordable, quote } from '../../api/jobs/admission.ts';
import type { Quote } from '../../api/ledger/job.ts';
import type { Funds } from '../../api/sql/accounts.ts';
import { countWith, type TokenCounts } from '../../common/tokenizers/tokenCounts.ts';
import { NO_LIMIT } from '../../programs/client/generated/constants.ts';
import { standardModel as standard } from './catalogued.ts';

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
    [10_000, 40n],
    [3, 8n],
  ])('accepts a limit of %i tokens under its other name', async (tokenLimit, lockCredits) => {
    const quoted = await quoteOf({ max_completion_tokens: tokenLimit });
    expect(quoted).toMatchObject({ tokenLimit, lockCredits });
  });

  it('never allows more tokens than the context window leaves [models.context-window]', async () => {
    const asked = { max_tokens: 10_000, messages: prompt(8 * 30_000) };
    expect((await quoteOf(asked)).tokenLimit).toBe(2_768);
  });

  it('counts calls and tools, as little of them as every template keeps', async () => {
    const words = 'word '.repeat(40_000);
    const call = (text: string) => ({
      id: 'c',
      type: 'function' as const,
      function: { name: 'f', arguments: text },
    });
    const said = (text: string) => ({
      messages: [{ role: 'assistant' as const, content: '', tool_calls: [call(text)] }],
    });
    const offered = (described: object) => ({
      tools: [{ type: 'function' as const, function: { name: 'f', ...described } }],
    });
    const parameters = { type: 'object', description: words };
    for (const large of [
      said(JSON.stringify({ city: [words] })),
      offered({ description: words }),
    ]) {
      await expect(quoteOf(large)).rejects.toMatchObject({ code: 'context_length_exceeded' });
    }
    // A template may leave out descriptions within a schema, and writes arguments without escapes.
    const escaped = JSON.stringify({ n: 1, city: 'x' }).replace('x', '\\u0041'.repeat(30_000));
    for (const small of [offered({ parameters }), said(escaped)]) {
      expect((await quoteOf(small)).tokenLimit).toBe(2_000);
    }
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

  it.each([
    ['English words', 'and so it goes on '.repeat(8_000), 40_000],
    ['lines of code', '  if (a) {\n'.repeat(11_000), 33_000],
    ['numbers', '1234567.25 '.repeat(7_000), 35_000],
  ])('refuses too many %s without a tokenizer, before any lock', async (_what, content, least) => {
    await expect(quoteOf({ messages: [{ role: 'user', content }] })).rejects.toMatchObject({
      code: 'context_length_exceeded',
      options: { details: { prompt_tokens_at_least: least } },
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

  it.each<[Partial<Funds>, number, string]>([
    [{ limit_per_job_credits: 20n }, 5_000, 'of at most 5000'],
    [
      { limit_per_day_credits: 20n, spent_day: TODAY, spent_today_credits: 12n },
      2_000,
      'most 2000',
    ],
    [{ limit_per_job_credits: 7n }, 0, 'No request of this model fits'],
  ])('names the max_tokens that fits %j: %d', async (limits, affordable, sentence) => {
    const quoted = await quoteOf({ max_tokens: 10_000 });
    const act = () => assertAffordable(quoted, { ...fundsOf(100n), ...limits }, NOW_SECONDS);
    const details = expect.objectContaining({ affordable_max_tokens: affordable });
    expect(act).toThrow(expect.objectContaining({ options: { details } }));
    expect(act).toThrow(sentence);
  });

  it.each<[bigint, Partial<Funds>, string | undefined]>([
    [8n, {}, undefined],
    [7n, {}, 'insufficient_credits'],
    [100n, { limit_per_job_credits: 8n }, undefined],
    [100n, { limit_per_job_credits: 7n }, 'spending_limit_exceeded'],
    [100n, { limit_per_day_credits: 11n }, undefined],
    [100n, { limit_per_day_credits: 10n }, 'spending_limit_exceeded'],
    [100n, { limit_per_day_credits: 8n, spent_day: TODAY - 1n }, undefined],
  ])('of 8 credits is within %s credits and %j, or refused: %s', async (credits, limits, code) => {
    const quoted = await quoteOf();
    const act = () => assertAffordable(quoted, { ...fundsOf(credits), ...limits }, NOW_SECONDS);
    if (code) expect(act).toThrow(expect.objectContaining({ code }));
    else expect(act).not.toThrow();
  });
});

const retired = { ...standard, id: 'old-model-1b', retires_at: 0n };

/** Asks for a place at workers of which so many are active, and none is free. */
function admitTo({
  model = standard.id,
  active = 0,
  reason,
  tools,
}: {
  model?: string;
  active?: number;
  reason?: string;
  tools?: object[];
}) {
  const services = {
    catalog: {
      find: (id: string) => (id === standard.id ? standard : undefined),
      list: () => [standard, { ...standard, id: 'llama-3.2-3b-instruct' }, retired],
    },
    nowSeconds: () => 0n,
    directory: {
      reserve: async () => undefined,
      active: (_address: string, toolsOf?: string) =>
        Array.from({ length: toolsOf === undefined ? active : active - 1 }),
      retryAfterSeconds: () => 7,
      unreadyReason: () => reason,
    },
  } as unknown as Parameters<typeof admit>[0];
  const options = {
    payer: { wallet: 'a wallet', available_credits: 100n },
    request: { model, messages: [{ role: 'user', content: 'Hello.' }], tools },
    clientGone: new AbortController().signal,
  } as unknown as Parameters<typeof admit>[1];
  return admit(services, options).then(
    (admitted: Admitted) => admitted,
    ({ code, message, options: { retryAfterSeconds } }) => ({ code, message, retryAfterSeconds }),
  );
}

describe('a request for a model without a free worker', () => {
  it.each([
    [0, 'No worker of standard-model can be reached.'],
    [1, 'All workers of standard-model are busy.'],
    [2, 'All workers of standard-model are busy.'],
  ])('gets 503 with the reason, of %i healthy ones', async (active, message) => {
    expect(await admitTo({ active })).toEqual({
      code: 'no_workers_available',
      message,
      retryAfterSeconds: 7,
    });
  });

  it.each([
    [1, 'No worker of standard-model that calls tools can be reached.'],
    [2, 'All workers of standard-model that call tools are busy.'],
  ])('with tools gets 503 before any lock, of %i', async (active, message) => {
    const tools = [{ type: 'function', function: { name: 'f' } }];
    expect(await admitTo({ active, tools })).toMatchObject({
      ...{ code: 'no_workers_available', message },
    });
  });

  it('gets the reason that a worker on the same machine gives', async () => {
    const reason = 'The upstream is not ready: nothing listens at its address (ECONNREFUSED)';
    expect(await admitTo({ reason })).toMatchObject({
      message: `No worker of standard-model can be reached. One here says: ${reason}.`,
    });
    expect(await admitTo({ active: 1, reason })).toMatchObject({
      message: 'All workers of standard-model are busy.',
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

  it.each([
    ['Standard-Model', " Did you mean 'standard-model'?"],
    ['vendor/standard_model', " Did you mean 'standard-model'?"],
    ['llama-3-2-3b-instruct', " Did you mean 'llama-3.2-3b-instruct'?"],
    ['llama3.2', " Did you mean 'llama-3.2-3b-instruct'?"],
    ['meta-llama/Llama-3.2-3B-Instruct-FP8', " Did you mean 'llama-3.2-3b-instruct'?"],
    ['standrad-model', " Did you mean 'standard-model'?"],
    ['old-model-1b', ''],
    ['gpt-4o', ''],
    ['', ''],
  ])('by the id %j gets the nearest by name:%s', async (model, remedy) => {
    const message = `No model has the id '${model}'.${remedy}`;
    expect(await admitTo({ model })).toMatchObject({ message });
  });
});
