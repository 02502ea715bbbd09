import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  answerCharactersMax,
  boundTokens,
  estimateTokens,
} from '../../common/tokenizers/tokenCounts.ts';
import { requestCommitment } from '../../programs/client/proof.ts';
import type { AnswerDetails } from '../../programs/client/statement.ts';
import {
  createScriptedEngine,
  createSolvingEngine,
  piecesOfCalls,
} from '../../testing/workers/engines.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import { readAnswer, readEvents } from './events.ts';
import { CHAT, codeOf, type LockedJob, openScene, SALT, type Scene, TOKEN_LIMIT } from './scene.ts';
import { type Reply, startUpstream, type UpstreamServer } from './upstreamServer.ts';

const tool = (name: string) => ({ type: 'function', function: { name } });
const TOOLS = { tools: [tool('tide'), tool('wind')] };
const TIDE = { id: 'call_1', name: 'tide', arguments: '{"at":"6 o\'clock"}' };

let upstream: UpstreamServer;
let scene: Scene;
beforeAll(async () => {
  upstream = await startUpstream();
  scene = await openScene({ engine: createUpstreamEngine({ url: upstream.url }) });
});
afterAll(async () => {
  await scene.close();
  upstream.close();
});

/** What an upstream sends of one call. */
const part = (index: number, text: string, begun: { id?: string; name?: string } = {}) => ({
  ...{ index, id: begun.id },
  function: { name: begun.name, arguments: text },
});

/** What the upstream does before it ends its answer. */
function answerWith(act: (reply: Reply) => void, reason = 'tool_calls', usage: number[] = []) {
  upstream.answerWith((reply) => {
    act(reply);
    reply.complete(reason, ...(usage as [number, number]));
  });
}

async function ask(chat: object = {}, limit = TOKEN_LIMIT) {
  const job = await scene.lock({ token_limit: limit });
  const asked = { ...TOOLS, ...chat };
  const response = await scene.ask(job, { chat: asked, body: { token_limit: limit } });
  return { job, response, isSigned: signerOf(job, { ...CHAT, ...asked, token_limit: limit }) };
}

function signerOf(job: LockedJob, asked: object) {
  const commitment = requestCommitment(SALT, asked as Parameters<typeof requestCommitment>[1]);
  return (proof: Record<string, unknown> | undefined, details: Partial<AnswerDetails>) =>
    scene.isSigned(job, proof, { commitment, details });
}

const hashOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

describe('an answer that calls a tool', () => {
  it('is deltas of calls, with a proof of them and of an empty text', async () => {
    answerWith((reply) => {
      reply.calls(part(1, '{"at":', TIDE));
      reply.calls(part(1, '"6 o\'clock"}'));
    });
    const { response, isSigned } = await ask();
    const [deltas, last]: [unknown[], { data: string }] = [[], { data: '' }];
    for await (const { event, data } of readEvents(response)) {
      if (event === undefined) deltas.push(JSON.parse(data).choices[0]);
      last.data = data;
    }
    const delta = (call: object) => ({
      ...{ index: 0, finish_reason: null },
      delta: { tool_calls: [{ index: 0, ...call }] },
    });
    const { id, name } = TIDE;
    expect(deltas).toEqual([
      { index: 0, delta: { role: 'assistant' }, finish_reason: null },
      delta({ id, type: 'function', function: { name, arguments: '' } }),
      delta({ function: { arguments: '{"at":' } }),
      delta({ function: { arguments: '"6 o\'clock"}' } }),
      { index: 0, delta: {}, finish_reason: 'tool_calls' },
    ]);
    const proof = JSON.parse(last.data);
    expect(proof.output_hash).toBe(hashOf(''));
    expect(isSigned(proof, { finishReason: 'tool_calls', toolCalls: [TIDE] })).toBe(true);
  });

  it('may have a text, which alone is hashed', async () => {
    answerWith((reply) => {
      reply.text('Let me look.');
      reply.calls(part(0, TIDE.arguments, TIDE), part(1, '{}', { id: 'call_2', name: 'wind' }));
    });
    const { response, isSigned } = await ask();
    const { text, calls, proof } = await readAnswer(response);
    const toolCalls = [TIDE, { id: 'call_2', name: 'wind', arguments: '{}' }];
    expect([text, calls, proof?.output_hash]).toEqual(['Let me look.', toolCalls, hashOf(text)]);
    expect(isSigned(proof, { finishReason: 'tool_calls', toolCalls })).toBe(true);
  });

  const called = TIDE.name + TIDE.arguments;
  const estimate = estimateTokens('Hm.') + estimateTokens(called);
  const bound = boundTokens('Hm.') + boundTokens(called);
  it.each([
    ['as its upstream counts them', { usage: [9, 17] }, 17],
    ['by an estimate without a usage', {}, estimate],
    ['at most as many as it has bytes', { usage: [9, 190] }, 3 + called.length],
    ['within their bound after reasoning', { usage: [9, 190], reasoning: 'Hm?' }, bound],
    ['by an estimate of all that came', { usage: [9, 190], parallel_tool_calls: false }, estimate],
  ])('has the tokens of text, names and arguments: %s', async (_how, given, tokens) => {
    const { usage, reasoning, ...chat } = { usage: undefined, reasoning: '', ...given };
    answerWith(
      (reply) => {
        if (reasoning) reply.raw(JSON.stringify({ choices: [{ delta: { reasoning } }] }));
        reply.text('Hm.');
        reply.calls(part(0, TIDE.arguments, TIDE));
        if ('parallel_tool_calls' in chat) reply.calls(part(1, '{}', { name: 'wind' }));
      },
      'tool_calls',
      usage,
    );
    const { calls, proof } = await readAnswer((await ask(chat)).response);
    expect([calls, proof?.completion_tokens]).toEqual([[TIDE], tokens]);
  });

  it('joins a character whose halves come in two deltas', async () => {
    answerWith((reply) => {
      reply.calls(part(0, '"\ud83d', TIDE));
      reply.calls(part(0, '\udc4b"'));
    });
    const { calls } = await readAnswer((await ask()).response);
    expect(calls).toEqual([{ ...TIDE, arguments: '"👋"' }]);
  });

  it('sends long arguments in pieces that readers take', async () => {
    const long = JSON.stringify('👋'.repeat(40_000));
    answerWith((reply) => reply.calls(part(0, long, TIDE)));
    const pieces: string[] = [];
    let last = '';
    for await (const { event, data } of readEvents((await ask({}, 1_000)).response)) {
      const [call] = JSON.parse(data).choices?.[0].delta.tool_calls ?? [];
      pieces.push(call?.function.arguments ?? '');
      last = event ?? '';
    }
    expect([pieces.join(''), last]).toEqual([long, 'proof']);
    expect(pieces.every((piece) => piece.length <= 65_536 && piece.isWellFormed())).toBe(true);
  });
});

describe('an engine of tests', () => {
  it('answers with calls in pieces, and with the end that it plays', async () => {
    const engine = createScriptedEngine();
    const own = await openScene({ engine });
    const toolCalls = [TIDE, { id: 'call_2', name: 'wind', arguments: '' }];
    const answerOf = async () => readAnswer(await own.ask(await own.lock(), { chat: TOOLS }));
    engine.play(async function* () {
      yield 'Let me look.';
      yield* piecesOfCalls(toolCalls);
    });
    const whole = { text: 'Let me look.', calls: toolCalls, finishReason: 'tool_calls' };
    expect(await answerOf()).toMatchObject(whole);
    engine.play(async function* () {
      yield* piecesOfCalls([TIDE]);
      yield { type: 'end', finishReason: 'length', usage: { completionTokens: 3 } };
    });
    const cut = { calls: [TIDE], finishReason: 'length', proof: { completion_tokens: 3 } };
    expect(await answerOf()).toMatchObject(cut);
    await own.close();
  });

  it('solves a question by a call of the tool that was chosen', async () => {
    const own = await openScene({ engine: createSolvingEngine() });
    const parameters = { type: 'object', properties: { sum: { type: 'integer' } } };
    const chat = {
      messages: [{ role: 'user', content: 'Add 3 and 4.' }],
      tools: [tool('tide'), { type: 'function', function: { name: 'add', parameters } }],
      tool_choice: { type: 'function', function: { name: 'add' } },
    };
    const { calls } = await readAnswer(await own.ask(await own.lock(), { chat }));
    expect(calls).toMatchObject([{ name: 'add', arguments: '{"sum":7}' }]);
    await own.close();
  });
});

describe('an answer with calls that is cut off', () => {
  const { arguments: whole } = TIDE;

  it.each<[string, (reply: Reply) => void, number, number[], number]>([
    [
      'at the token limit',
      (reply) => {
        reply.text('Hm.');
        reply.calls(part(0, '', TIDE));
        for (const sign of whole) reply.calls(part(0, sign));
      },
      9,
      [7],
      1,
    ],
    [
      'at the end of its upstream',
      (reply) => reply.calls(part(0, whole.slice(0, 7), TIDE)),
      200,
      [7],
      1,
    ],
    [
      'where it is longer than any answer',
      (reply) => {
        reply.text('x'.repeat(answerCharactersMax(3) - 10));
        reply.calls(part(0, whole.slice(0, 3), TIDE));
        reply.calls(part(0, whole.slice(3)));
      },
      3,
      [10 - TIDE.name.length],
      1,
    ],
    [
      'before a name that does not fit',
      (reply) => {
        reply.text('x'.repeat(answerCharactersMax(2) - 3));
        reply.calls(part(0, whole, TIDE));
      },
      2,
      [],
      1,
    ],
    [
      'after 128 calls',
      (reply) => {
        for (let at = 0; at < 130; at += 1) reply.calls(part(at, '{}', { name: 'wind' }));
      },
      200,
      Array(128).fill(2),
      128,
    ],
  ])('has the reason length: %s', async (_where, act, limit, lengths) => {
    answerWith(act, lengths.length === 1 && limit === 200 ? 'length' : 'tool_calls');
    const { response, isSigned } = await ask({}, limit);
    const { calls, finishReason, proof } = await readAnswer(response);
    expect(calls.map((call) => call.arguments.length)).toEqual(lengths);
    expect(isSigned(proof, { finishReason: 'length', toolCalls: calls })).toBe(true);
    expect(finishReason).toBe('length');
  });

  it.each([
    ['client_gone', null],
    ['deadline', 'deadline'],
  ] as const)('is proven as far as it was sent, for %s', async (reason, truncated) => {
    const started = Promise.withResolvers<void>();
    upstream.answerWith((reply) => {
      reply.calls(part(0, '{"at": "\ud83d', TIDE));
      started.resolve();
    });
    const { job, response, isSigned } = await ask({ tool_choice: 'required' });
    await started.promise;
    await scene.stop(job, { body: { reason } });
    const { calls, proof } = await readAnswer(response);
    const toolCalls = [{ ...TIDE, arguments: '{"at": "' }];
    expect(calls).toEqual(toolCalls);
    expect(isSigned(proof, { finishReason: 'length', truncated, toolCalls })).toBe(true);
  });
});

describe('a call that was not asked for', () => {
  const choice = { tool_choice: { type: 'function', function: { name: 'wind' } } };
  it.each<[string, object, (reply: Reply) => void]>([
    ['of a tool that was not given', {}, (reply) => reply.calls(part(0, '{}', { name: 'moon' }))],
    ['of another tool than was chosen', choice, (reply) => reply.calls(part(0, '{}', TIDE))],
    ['that is missing though one is required', { tool_choice: 'required' }, () => undefined],
    ['that is missing though one was chosen', choice, () => undefined],
    [
      'with half of a character in its id',
      {},
      (reply) => reply.calls(part(0, '{}', { ...TIDE, id: '\ud83d' })),
    ],
    [
      'with a malformed name',
      {},
      (reply) => reply.calls(part(0, '{}', { ...TIDE, name: 'tide\ud83d' })),
    ],
  ])('fails the attempt before or behind other output: %s', async (_what, chat, act) => {
    answerWith(act, 'stop');
    const refused = (await ask(chat)).response;
    expect([refused.status, await codeOf(refused)]).toEqual([502, 'upstream_failed']);
    answerWith((reply) => {
      reply.text('Hm.');
      act(reply);
    }, 'stop');
    const { text, error, proof } = await readAnswer((await ask(chat)).response);
    expect([text, error?.code, proof]).toEqual(['Hm.', 'upstream_failed', undefined]);
  });

  it.each([
    ['in the middle', '"\ud83d"'],
    ['at the end', '"\ud83d'],
  ])('fails the attempt with half of a character %s of its arguments', async (_where, text) => {
    answerWith((reply) => reply.calls(part(0, text, TIDE)));
    const { error, proof } = await readAnswer((await ask()).response);
    expect([error?.code, proof]).toEqual(['upstream_failed', undefined]);
  });

  it('may be missing where the token limit cut the answer', async () => {
    answerWith((reply) => reply.text('Hm.'), 'length');
    const { text, proof } = await readAnswer((await ask({ tool_choice: 'required' })).response);
    expect([text, proof?.output_hash]).toEqual(['Hm.', hashOf('Hm.')]);
  });
});
