import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { delay } from '../../common/wait.ts';
import type { ToolCall } from '../../programs/client/statement.ts';
import { STOPPED_SECONDS } from '../../testing/ledger/deadlines.ts';
import { untilDispatched, untilEnded } from '../../testing/ledger/walletBooks.ts';
import {
  openCompletion,
  ROUTED_FORMS,
  ROUTES,
  readAnswer,
  requestCompletion,
} from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { createScriptedEngine, piecesOfCalls } from '../../testing/workers/engines.ts';
import type { EngineEvent } from '../../worker/engine/engine.ts';

const CREDITS = 1_000n;
/** More often than an unfinished answer may be silent. */
const LIFE_MS = 10;
const SETTLED = { status: 'settled', reason: 'none', charged: 8n };
const failedFor = (reason: string) => ({ status: 'failed', reason, charged: 0n });

const tool = (name: string) => ({
  type: 'function' as const,
  function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } } } },
});
const TOOLS = { tools: [tool('weather'), tool('clock')] };
const CALLS: ToolCall[] = [
  { id: 'call_a', name: 'weather', arguments: '{"city":"Zürich"}' },
  { id: 'call_b', name: 'clock', arguments: '{}' },
];

const NOTHING = { text: '', reasoning: '', calls: [] };

/** Both workers have it. */
const engine = createScriptedEngine();
let service: RunningService;
/** Of one test. */
let wallet: Awaited<ReturnType<RunningService['addWallet']>>;
/** How many answers have begun. */
let begun: number;

beforeAll(async () => {
  service = await startRunningService({
    workers: [engine, engine],
    apiSettings: { SVC_PREVIEW: 'tools', SVC_ACKNOWLEDGEMENT_LINGER_MS: '50' },
  });
});

beforeEach(async () => {
  wallet = await service.addWallet(CREDITS);
  begun = 0;
});

afterAll(() => service?.close());

type Script = Parameters<typeof engine.play>[0];

/** Plays the first script, and the other for later answers. */
function play(first: Script, other = first): void {
  engine.play((signal) => {
    begun += 1;
    return (begun === 1 ? first : other)(signal);
  });
}

const callsAlone: Script = async function* () {
  yield* piecesOfCalls(CALLS);
};

/** Begins a call, and goes on with it for ever. */
const endless: Script = async function* (signal) {
  yield { type: 'call', index: 0, id: 'call_a', name: 'weather', text: '{"city":"' };
  for (;;) {
    yield { type: 'call', index: 0, text: 'again ' };
    await delay(LIFE_MS, signal);
    signal.throwIfAborted();
  }
};

const ended = async (jobs = 1) => {
  const books = await untilEnded(service, wallet.address, jobs);
  await service.expectConserved();
  return books.jobs;
};

describe.each(ROUTED_FORMS)('the calls of a %s answer of %s', (form, route) => {
  const open = (
    body: object = {},
    others: { headers?: Record<string, string>; signal?: AbortSignal } = {},
  ) =>
    openCompletion(service, {
      ...{ form, route, apiKey: wallet.apiKey, body: { ...TOOLS, ...body } },
      ...others,
    });
  const ask = async (...asked: Parameters<typeof open>) => readAnswer(await open(...asked));

  it('are proven, charged, and given again, without any text', async () => {
    play(callsAlone);
    const key = { headers: { 'idempotency-key': 'calls' } };
    const first = await ask({}, key);
    const { text, calls, finishReason, completionTokens } = first;
    expect({ text, calls, finishReason }).toEqual({
      ...{ text: '', calls: CALLS, finishReason: 'tool_calls' },
    });
    expect(completionTokens).toBeGreaterThan(CALLS.length);
    expect(await ask({}, key)).toMatchObject({
      ...{ text, calls, finishReason, completionTokens },
      headers: { 'x-svc-replayed': 'true' },
    });
    expect(await ended()).toEqual([SETTLED]);
    expect(begun).toBe(1);
  });

  it('follow a text, and say nothing of the form that was asked for', async () => {
    play(async function* () {
      yield 'Let me see.';
      yield* piecesOfCalls(CALLS.slice(0, 1));
    });
    expect(await ask()).toMatchObject({
      ...{ text: 'Let me see.', calls: CALLS.slice(0, 1), finishReason: 'tool_calls' },
    });
    play(callsAlone);
    const { body } = await ask({ response_format: { type: 'json_object' } });
    expect(body).toContain('"format_kept":null');
    expect(await ended(2)).toEqual([SETTLED, SETTLED]);
  });

  it('are each whole where other pieces come in between, and so is the rest', async () => {
    const [first, second] = CALLS as [ToolCall, ToolCall];
    play(async function* () {
      yield { type: 'reasoning', text: 'Where? ' };
      yield 'Let me ';
      yield { type: 'call', index: 0, ...first, text: '' };
      yield { type: 'call', index: 0, text: first.arguments.slice(0, 5) };
      yield { type: 'reasoning', text: 'And when?' };
      yield { type: 'call', index: 1, ...second, text: second.arguments.slice(0, 1) };
      yield 'see.';
      yield { type: 'call', index: 0, text: first.arguments.slice(5) };
      yield { type: 'call', index: 1, text: second.arguments.slice(1) };
    });
    const key = { headers: { 'idempotency-key': 'mixed' } };
    const whole = {
      ...{ text: 'Let me see.', reasoning: 'Where? And when?', calls: CALLS },
      ...{ finishReason: 'tool_calls', error: undefined },
    };
    expect(await ask({}, key)).toMatchObject(whole);
    expect(await ask({}, key)).toMatchObject(whole);
    expect(await ended()).toEqual([SETTLED]);
  });

  it('are cut by the token limit, which is charged', async () => {
    play(endless);
    expect(await ask({ max_tokens: 5 })).toMatchObject({
      ...{ text: '', finishReason: 'length', error: undefined },
      calls: [{ name: 'weather', arguments: expect.stringMatching(/^{"city":"(again )+/) }],
    });
    expect(await ended()).toEqual([SETTLED]);
  });

  it('are cut by the deadline, which is charged', async () => {
    play(endless);
    const asking = open({ max_tokens: 2_000 });
    await untilDispatched(service, wallet.address, 1);
    if (form === 'stream') await once(await asking, 'readable');
    else await delay(10 * LIFE_MS);
    await service.advanceSeconds(STOPPED_SECONDS);
    const answer = await readAnswer(await asking);
    expect(answer).toMatchObject({
      ...{ text: '', calls: [{ name: 'weather' }], finishReason: 'length' },
      ...{ isTruncated: true, error: undefined },
    });
    if (form === 'plain') expect(answer.headers['x-svc-truncated']).toBe('deadline');
    expect(await ended()).toEqual([SETTLED]);
  });

  it('that the deadline leaves no time for cost nothing', async () => {
    play(async function* (signal) {
      for (;;) {
        yield { type: 'alive' };
        await delay(LIFE_MS, signal);
        signal.throwIfAborted();
      }
    });
    const asking = ask();
    await untilDispatched(service, wallet.address, 1);
    await service.advanceSeconds(STOPPED_SECONDS);
    await service.advanceSeconds(16);
    const { status, error } = await asking;
    expect([status, error?.code]).toEqual([504, 'job_timeout']);
    expect(await ended()).toEqual([{ status: 'refunded', reason: 'none', charged: 0n }]);
  });

  const ofNoTool: EngineEvent = { type: 'call', index: 0, id: 'c', name: 'other', text: '' };

  it.each<[string, object, Script]>([
    [
      'of no tool',
      {},
      async function* () {
        yield ofNoTool;
      },
    ],
    [
      'of another tool than the chosen one',
      { tool_choice: { type: 'function', function: { name: 'clock' } } },
      callsAlone,
    ],
    ['that have to be', { tool_choice: 'required' }, async function* () {}],
  ])('%s are asked of two workers, and count as an unpaid ending', async (_what, body, script) => {
    play(script);
    const { status, error } = await ask(body);
    expect([status, error?.code, begun]).toEqual([500, 'worker_failed', 2]);
    expect(await ended()).toEqual([failedFor('empty_output')]);
  });

  it('of no tool end an answer with text as an error, without a charge', async () => {
    play(async function* () {
      yield 'Let me see.';
      yield ofNoTool;
    });
    const { status, error } = await ask();
    expect([status, error?.code, begun]).toEqual(
      form === 'plain' ? [500, 'worker_failed', 2] : [200, 'worker_failed', 1],
    );
    expect(await ended()).toMatchObject([{ status: 'failed', charged: 0n }]);
  });

  it('whose worker dies in the middle come of another, unless some were read', async () => {
    play(async function* () {
      yield { type: 'reasoning', text: 'Hm. ' };
      yield 'Let me see.';
      yield { type: 'call', index: 0, id: 'call_x', name: 'weather', text: '{"ci' };
      await delay(LIFE_MS);
      throw new Error('gone');
    }, callsAlone);
    const { status, text, reasoning, calls, error } = await ask();
    expect([status, begun]).toEqual([200, form === 'plain' ? 2 : 1]);
    // Nothing of the first worker is left.
    if (form === 'plain') expect({ text, reasoning, calls }).toEqual({ ...NOTHING, calls: CALLS });
    else expect(error?.code).toBe('worker_failed');
    expect(await ended()).toEqual([form === 'plain' ? SETTLED : failedFor('worker_error')]);
  });

  it('are charged as far as they were sent to a client that leaves', async () => {
    play(endless);
    const leaving = new AbortController();
    const opening = open({ max_tokens: 2_000 }, { signal: leaving.signal });
    opening.catch(() => undefined);
    if (form === 'stream') await once(await opening, 'data');
    else await untilDispatched(service, wallet.address, 1);
    leaving.abort();
    // Of a plain answer nothing was sent.
    expect(await ended()).toEqual([form === 'stream' ? SETTLED : failedFor('client_gone')]);
  });
});

describe('tools', () => {
  it('are sent back with their results, by the official client', async () => {
    play(callsAlone, async function* () {
      yield 'It rains.';
    });
    const client = service.openai(wallet).chat.completions;
    const asked = { model: service.model.id, ...TOOLS };
    const messages = [{ role: 'user' as const, content: 'And the weather?' }];
    const [called] = (await client.create({ ...asked, messages })).choices;
    const results = CALLS.map(({ id }) => ({
      ...{ role: 'tool' as const, tool_call_id: id, content: 'rain' },
    }));
    if (!called) throw new Error('no choice');
    const { choices } = await client.create({
      ...asked,
      messages: [...messages, called.message, ...results],
    });
    expect(choices[0]).toMatchObject({
      message: { content: 'It rains.' },
      finish_reason: 'stop',
    });
    expect(await ended(2)).toEqual([SETTLED, SETTLED]);
  });

  it('are refused where they are off, and where no worker calls one', async () => {
    const { url: baseUrl } = await service.startInstance({ SVC_PREVIEW: '' });
    const asked = { form: 'plain', apiKey: wallet.apiKey, body: TOOLS } as const;
    for (const route of ROUTES) {
      const answer = await requestCompletion({ ...service, baseUrl }, { ...asked, route });
      expect([answer.status, answer.error]).toMatchObject([
        400,
        { code: 'invalid_request', param: 'tools' },
      ]);
    }
    const { rows } = await service.pool.query(
      `insert into service.canary_verdicts (worker, model, has_passed, calls_tools)
       select worker, model, true, false from mirror.worker_models returning worker`,
    );
    expect(rows.length).toBeGreaterThan(2);
    const supported = async () => {
      const { data } = await service.get('/v1/models');
      return data[0].svc.supported_parameters.includes('tools');
    };
    expect(await supported()).toBe(true);
    await service.untilShown(async () => !(await supported()));
    const refused = requestCompletion(service, asked);
    expect((await service.time.advanceUntil(refused)).error).toMatchObject({
      code: 'no_workers_available',
      message: expect.stringContaining('that calls tools'),
    });
    expect((await ended(0)).length).toBe(0);
  });
});
