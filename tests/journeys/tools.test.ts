import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ErrorBody } from '../../api/contracts/errors.ts';
import { delay } from '../../common/wait.ts';
import { type ToolCall, toolCallsAsJson } from '../../programs/client/statement.ts';
import { STOPPED_SECONDS } from '../../testing/ledger/deadlines.ts';
import { untilDispatched, untilEnded } from '../../testing/ledger/walletBooks.ts';
import {
  FORMS,
  type Form,
  openCompletion,
  readAnswer,
  requestCompletion,
} from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { createScriptedEngine, piecesOfCalls } from '../../testing/workers/engines.ts';
import type { EngineEvent } from '../../worker/engine/engine.ts';

const CREDITS = 1_000n;
const LIFE_MS = 100;
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
    apiSettings: { SVC_PREVIEW: 'tools' },
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

const send = (form: Form, body: object = {}, headers: Record<string, string> = {}) => ({
  ...{ form, apiKey: wallet.apiKey, headers },
  body: {
    ...TOOLS,
    ...(form === 'stream' && { stream_options: { include_usage: true } }),
    ...body,
  },
});

interface Got {
  content: string | null;
  toolCalls: unknown[];
  finishReason: string | null;
  completionTokens: number | undefined;
  error: ErrorBody['error'] | undefined;
}

/** What a client makes of a body, however it came. */
function read(form: Form, body: string): Got {
  if (form === 'plain') {
    const { choices: [choice] = [], usage, error } = JSON.parse(body);
    return {
      content: choice?.message.content,
      toolCalls: choice?.message.tool_calls ?? [],
      finishReason: choice?.finish_reason ?? null,
      ...{ completionTokens: usage?.completion_tokens, error },
    };
  }
  const got: Got = {
    ...{ content: null, toolCalls: [], finishReason: null },
    ...{ completionTokens: undefined, error: undefined },
  };
  const calls: { id: string; type: string; function: ToolCall }[] = [];
  for (const [, data = ''] of body.matchAll(/^data: (\{.*)$/gm)) {
    const { choices: [choice] = [], usage, error } = JSON.parse(data);
    got.error ??= error;
    got.completionTokens ??= usage?.completion_tokens;
    got.finishReason ??= choice?.finish_reason;
    if (choice?.delta.content) got.content = (got.content ?? '') + choice.delta.content;
    for (const { index, ...part } of choice?.delta.tool_calls ?? []) {
      const call = calls[index];
      if (!call) calls[index] = part;
      else {
        const { name, arguments: written } = call.function;
        calls[index] = {
          ...call,
          function: { name, arguments: written + part.function.arguments } as ToolCall,
        };
      }
    }
  }
  return { ...got, toolCalls: calls };
}

const ended = async (jobs = 1) => {
  const books = await untilEnded(service, wallet.address, jobs);
  await service.expectConserved();
  return books.jobs;
};

describe.each(FORMS)('the calls of a %s answer', (form) => {
  const ask = async (body?: object, headers?: Record<string, string>) => {
    const answer = await requestCompletion(service, send(form, body, headers));
    return { ...answer, got: read(form, answer.body) };
  };

  it('are proven, charged, and given again, without any text', async () => {
    play(callsAlone);
    const key = { 'idempotency-key': `calls-${form}` };
    const first = await ask({}, key);
    expect(first.got).toEqual({
      ...{ content: null, toolCalls: toolCallsAsJson(CALLS), finishReason: 'tool_calls' },
      ...{ completionTokens: expect.any(Number), error: undefined },
    });
    expect(first.got.completionTokens).toBeGreaterThan(CALLS.length);
    const again = await ask({}, key);
    expect([again.got, again.headers['x-svc-replayed']]).toEqual([first.got, 'true']);
    expect(await ended()).toEqual([SETTLED]);
    expect(begun).toBe(1);
  });

  it('follow a text, and say nothing of the form that was asked for', async () => {
    play(async function* () {
      yield 'Let me see.';
      yield* piecesOfCalls(CALLS.slice(0, 1));
    });
    const { got } = await ask();
    expect(got).toMatchObject({ content: 'Let me see.', finishReason: 'tool_calls' });
    expect(got.toolCalls).toEqual(toolCallsAsJson(CALLS.slice(0, 1)));
    play(callsAlone);
    const { body } = await ask({ response_format: { type: 'json_object' } });
    expect(body).toContain('"format_kept":null');
    expect(await ended(2)).toEqual([SETTLED, SETTLED]);
  });

  it('are cut by the token limit, which is charged', async () => {
    play(endless);
    const { got } = await ask({ max_tokens: 5 });
    expect(got).toMatchObject({ content: null, finishReason: 'length', error: undefined });
    expect(JSON.stringify(got.toolCalls)).toMatch(
      /"name":"weather","arguments":"{\\"city\\":\\"(again )+/,
    );
    expect(await ended()).toEqual([SETTLED]);
  });

  it('are cut by the deadline, which is charged', async () => {
    play(endless);
    const asking = openCompletion(service, send(form, { max_tokens: 2_000 }));
    await untilDispatched(service, wallet.address, 1);
    if (form === 'stream') await once(await asking, 'readable');
    else await delay(LIFE_MS);
    await service.advanceSeconds(STOPPED_SECONDS);
    const { body, headers } = await readAnswer(await asking);
    const got = read(form, body);
    expect(got).toMatchObject({ content: null, finishReason: 'length', error: undefined });
    expect(got.toolCalls).toHaveLength(1);
    if (form === 'plain') expect(headers['x-svc-truncated']).toBe('deadline');
    else expect(body).toContain('"truncated":"deadline"');
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
    const asking = requestCompletion(service, send(form));
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
      yield { type: 'call', index: 0, id: 'call_x', name: 'weather', text: '{"ci' };
      await delay(LIFE_MS);
      throw new Error('gone');
    }, callsAlone);
    const { got, status } = await ask();
    expect([status, begun]).toEqual([200, form === 'plain' ? 2 : 1]);
    if (form === 'plain') expect(got.toolCalls).toEqual(toolCallsAsJson(CALLS));
    else expect(got.error?.code).toBe('worker_failed');
    expect(await ended()).toEqual([form === 'plain' ? SETTLED : failedFor('worker_error')]);
  });

  it('are charged as far as they were sent to a client that leaves', async () => {
    play(endless);
    const opening = openCompletion(service, send(form, { max_tokens: 2_000 }));
    const asking = opening.catch((error: Error) => error);
    await untilDispatched(service, wallet.address, 1);
    if (form === 'plain') {
      // It leaves with its connection, before any header.
      const leaving = new AbortController();
      const second = service
        .openai(wallet)
        .chat.completions.create(
          { model: service.model.id, messages: [{ role: 'user', content: 'Hi.' }], ...TOOLS },
          { signal: leaving.signal },
        );
      const left = expect(second).rejects.toThrow();
      await untilDispatched(service, wallet.address, 2);
      leaving.abort();
      await left;
      await service.advanceSeconds(STOPPED_SECONDS);
      await asking;
      expect((await ended(2)).map(({ reason }) => reason).sort()).toEqual(['client_gone', 'none']);
      return;
    }
    const response = await opening;
    await once(response, 'data');
    response.destroy();
    expect(await ended()).toEqual([SETTLED]);
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
    const { status, error } = await requestCompletion({ ...service, baseUrl }, send('plain'));
    expect([status, error]).toMatchObject([400, { code: 'invalid_request', param: 'tools' }]);
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
    const refused = requestCompletion(service, send('plain'));
    expect((await service.time.advanceUntil(refused)).error).toMatchObject({
      code: 'no_workers_available',
      message: expect.stringContaining('that calls tools'),
    });
    expect((await ended(0)).length).toBe(0);
  });
});
