import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { modelRetire } from '../../programs/client/instructions.ts';
import { chargeCredits, lockCredits } from '../../programs/client/pricing.ts';
import { submit } from '../../stack/operator.ts';
import { readClockSeconds } from '../../testing/ledger/ledger.ts';
import { readBooks } from '../../testing/ledger/walletBooks.ts';
import { requestCompletion } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { until } from '../../testing/until.ts';

const CREDITS = 1_000n;
/** Of the library that reads bodies. */
const LIBRARY_WORDS = /zod|invalid input|expected|received|too (small|big)/i;
const NOTICE_SECONDS = 30n * 86_400n;

let service: RunningService;
beforeAll(async () => {
  service = await startRunningService();
});
afterAll(() => service?.close());

type Wallet = Awaited<ReturnType<RunningService['addWallet']>>;

const say = (content: unknown, role = 'user') => ({ messages: [{ role, content }] });

/** @param body undefined leaves out what every request has */
const request = (body: Record<string, unknown>, { apiKey }: Pick<Wallet, 'apiKey'> = service) =>
  requestCompletion(service, { form: 'plain', apiKey, body });

/** The text of an answer, its finish reason and its usage. */
async function answerTo(body: Record<string, unknown>, wallet?: Wallet) {
  const answer = await request(body, wallet);
  expect(answer.status).toBe(200);
  const { choices, usage } = JSON.parse(answer.body);
  const [{ message, finish_reason }] = choices;
  return { text: message.content as string, finish_reason, usage, headers: answer.headers };
}

describe('a completion over HTTP', () => {
  it.each([
    ['with a model and a message alone [completions.required-fields]', {}],
    ['with stream off', { stream: false }],
    ['with the least token limit', { max_tokens: 1 }],
    ['at the lower bounds', { temperature: 0, frequency_penalty: -2, presence_penalty: -2 }],
    ['at the upper bounds', { temperature: 2, frequency_penalty: 2, presence_penalty: 2 }],
    ['with nucleus sampling and a seed', { top_p: 0.5, seed: 7 }],
    ['with one stop sequence', { stop: 'END' }],
    ['with several stop sequences', { stop: ['END', 'STOP'] }],
    ['from the system [completions.roles]', say('Say hello.', 'system')],
    ['from the assistant [completions.roles]', say('Hello.', 'assistant')],
    ['from the developer, read as the system [completions.roles]', say('Say hello.', 'developer')],
    [
      'after an answer that was empty',
      { messages: [...say(null, 'assistant').messages, ...say('Say hello.').messages] },
    ],
    ['with what is unsupported, turned off [completions.unsupported]', { tools: [], n: 1 }],
  ])('is answered %s', async (_what, body) => {
    const { text, headers } = await answerTo(body);
    expect(text).not.toBe('');
    expect(headers['x-svc-settlement-tx']).toEqual(expect.any(String));
  });

  const image = { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } };
  it.each<[string, string, Record<string, unknown>]>([
    ['without a model [completions.required-fields]', 'model', { model: undefined }],
    ['without messages [completions.required-fields]', 'messages', { messages: undefined }],
    ['with no message [completions.required-fields]', 'messages', { messages: [] }],
    ['from an unknown role [completions.roles]', 'messages[0].role', say('x', 'tool')],
    ['with an image [completions.unsupported]', 'messages[0].content', say([image])],
    ['with tools [completions.unsupported]', 'tools', { tools: [{ type: 'function' }] }],
    ['with functions [completions.unsupported]', 'functions', { functions: [{ name: 'f' }] }],
    ['with several choices [completions.unsupported]', 'n', { n: 2 }],
    ['too cold [completions.field-ranges]', 'temperature', { temperature: -0.1 }],
    ['too hot [completions.field-ranges]', 'temperature', { temperature: 2.1 }],
    ['beyond a probability [completions.field-ranges]', 'top_p', { top_p: 1.1 }],
    ['below a penalty', 'frequency_penalty', { frequency_penalty: -2.1 }],
    ['above a penalty', 'presence_penalty', { presence_penalty: 2.1 }],
    ['with half a seed', 'seed', { seed: 0.5 }],
    ['with a number as stop sequence', 'stop', { stop: 7 }],
    ['with no token', 'max_tokens', { max_tokens: 0 }],
    ['with a word for stream', 'stream', { stream: 'yes' }],
  ])('is refused, and locks nothing, %s', async (_what, param, body) => {
    const wallet = await service.addWallet(CREDITS);
    const { status, error } = await request(body, wallet);
    expect([status, error]).toMatchObject([400, { code: 'invalid_request', param }]);
    expect(error?.message).not.toMatch(LIBRARY_WORDS);
    expect(await readBooks(service, wallet.address)).toMatchObject({ locked: 0n, jobs: [] });
  });

  it.each([
    ["'messages' is required.", { messages: undefined }],
    ["Invalid value for 'messages': must hold at least one message.", { messages: [] }],
    [
      "Invalid value for 'tools': is not supported yet: tools are planned.",
      { tools: [{ type: 'function' }] },
    ],
  ])('is refused in words that name the remedy: %s', async (message, body) => {
    expect((await request(body)).error?.message).toBe(message);
  });

  it.each([
    ['missing_api_key', {}],
    ['invalid_api_key', { authorization: `Bearer svc_live_${'x'.repeat(32)}` }],
  ])('names where keys are made for %s [keys.bearer]', async (code, headers) => {
    const response = await fetch(`${service.baseUrl}/v1/account`, { headers });
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, error.code]).toEqual([401, code]);
    expect(error.message).toContain(
      "Whoever signs in to this service's web app with a wallet can make its key there.",
    );
  });

  it('ends before its stop sequence, and has the same text for the same seed [completions.stop-and-seed]', async () => {
    const body = { ...say('Write 60 words.'), seed: 11 };
    const { text } = await answerTo(body);
    expect((await answerTo(body)).text).toBe(text);
    expect((await answerTo({ ...body, seed: 12 })).text).not.toBe(text);
    const stop = text.slice(40, 48);
    expect(await answerTo({ ...body, stop })).toMatchObject({
      ...{ text: text.slice(0, text.indexOf(stop)), finish_reason: 'stop' },
    });
  });

  it('above 500 tokens costs the rate of all its tokens, and the rest of its lock comes back [charging.threshold] [charging.lock-amount] [charging.never-above-lock]', async () => {
    const wallet = await service.addWallet(CREDITS);
    const { model } = service;
    const max_tokens = 4_000;
    const locked = lockCredits(model, max_tokens);
    const body = { ...say('Write 900 words.'), max_tokens };
    const poor = await service.addWallet(locked - 1n);
    expect(await request(body, poor)).toMatchObject({
      ...{ status: 402, error: { details: { credits_required: Number(locked) } } },
    });
    const { usage, headers } = await answerTo(body, wallet);
    expect(usage.completion_tokens).toBeGreaterThan(500);
    const charged = chargeCredits(model, usage.completion_tokens, locked);
    expect(charged).toBeLessThan(locked);
    const job = await service.get(`/v1/jobs/${headers['x-svc-job-id']}`, wallet.apiKey);
    expect([job.credits_charged, job.usdc_value]).toEqual([Number(charged), Number(charged) / 100]);
    expect(headers['x-svc-credits-remaining']).toBe(String(CREDITS - charged));
    expect(await service.get('/v1/account', wallet.apiKey)).toMatchObject({
      ...{ credits_remaining: Number(CREDITS - charged), locked_credits: 0 },
    });
  });
});

describe('the list of jobs over HTTP', () => {
  const JOBS = 23;
  let wallet: Wallet;
  let newestFirst: string[];
  const list = (query: string) => service.get(`/v1/jobs${query}`, wallet.apiKey);
  const idsOf = ({ data }: { data: { id: string }[] }) => data.map(({ id }) => id);

  beforeAll(async () => {
    wallet = await service.addWallet(CREDITS);
    const ids: string[] = [];
    for (let job = 0; job < JOBS; job += 1) {
      ids.push(String((await answerTo({ max_tokens: 1 }, wallet)).headers['x-svc-job-id']));
    }
    await service.untilMirrored();
    newestFirst = ids.reverse();
  });

  it('has 20 a page, and goes on before its cursor to the end [jobs.list]', async () => {
    const first = await list('');
    expect(first).toMatchObject({ object: 'list', has_more: true, next_cursor: newestFirst[19] });
    expect(idsOf(first)).toEqual(newestFirst.slice(0, 20));
    const last = await list(`?before=${first.next_cursor}`);
    expect(last).toMatchObject({ has_more: false, next_cursor: null });
    expect(idsOf(last)).toEqual(newestFirst.slice(20));
  });

  it('has those after a job, and those of a state and a model [jobs.list]', async () => {
    expect(idsOf(await list(`?after=${newestFirst[3]}`))).toEqual(newestFirst.slice(0, 3));
    const filter = `status=settled&model=${service.model.id}&limit=100`;
    expect(idsOf(await list(`?${filter}`))).toEqual(newestFirst);
    expect(idsOf(await list('?status=refunded'))).toEqual([]);
    expect(idsOf(await list('?model=none'))).toEqual([]);
  });

  it.each([
    ['limit', '?limit=0'],
    ['limit', '?limit=101'],
    ['status', '?status=done'],
    ['before', '?before=job_x'],
    ['since', '?since=yesterday'],
  ])('names a parameter that it refuses: %s in %s [jobs.list-refusals]', async (param, query) => {
    expect((await list(query)).error).toMatchObject({ code: 'invalid_request', param });
  });
});

describe('a model with an announced end, over HTTP', () => {
  it('shows it, works until then, and is unknown to completions from then on [models.retirement]', async () => {
    const { operator, ledger, model } = service;
    const retiresAt = (await readClockSeconds(ledger.connection)) + NOTICE_SECONDS + 60n;
    const authority = operator.authority.publicKey;
    await submit(operator, [modelRetire({ authority, modelId: model.id, retiresAt })]);
    const shown = () => service.get(`/v1/models/${model.id}`);
    await until(async () => (await shown()).svc.retires_at !== null);
    expect(Date.parse((await shown()).svc.retires_at) / 1_000).toBe(Number(retiresAt));
    await answerTo({});
    await service.advanceSeconds(Number(NOTICE_SECONDS) + 61);
    await until(async () => (await service.get('/v1/models')).data.length === 0);
    expect(await request({})).toMatchObject({ status: 400, error: { code: 'model_not_found' } });
  });
});
