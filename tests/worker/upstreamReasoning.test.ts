import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answerCharactersMax, boundTokens } from '../../common/tokenizers/tokenCounts.ts';
import { createUpstreamEngine } from '../../worker/engine/upstream.ts';
import { readAnswer, readEvents } from './events.ts';
import { openScene, type Scene, TOKEN_LIMIT } from './scene.ts';
import { type Reply, startUpstream, type UpstreamServer } from './upstreamServer.ts';

const TEXT = 'The answer is 42, as everybody knows.';

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

function think(reply: Reply, delta: object): void {
  reply.raw(JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] }));
}

/** What the upstream does before it ends its answer. */
function answerWith(act: (reply: Reply) => void, usage?: object, reason = 'stop'): void {
  upstream.answerWith((reply) => {
    act(reply);
    reply.finish(reason);
    if (usage) reply.raw(JSON.stringify({ choices: [], usage }));
    reply.done();
    reply.end();
  });
}

async function ask(chat: Record<string, unknown> = {}): Promise<Response> {
  return scene.ask(await scene.lock(), { chat });
}

/** What the worker sent: deltas in order, and the last event. */
async function deltasOf(response: Response) {
  const events: string[] = [];
  const deltas: Record<string, string>[] = [];
  let last: Record<string, unknown> = {};
  for await (const { event = 'chunk', data } of readEvents(response)) {
    last = JSON.parse(data);
    events.push(event);
    if (event === 'chunk') deltas.push(JSON.parse(data).choices[0].delta);
  }
  return { events, deltas, last };
}

describe('a model that thinks before it answers', () => {
  it('has its reasoning passed on outside the text, and bound by the proof', async () => {
    answerWith((reply) => {
      // Split where a character is.
      for (const reasoning of ['Hm \ud83e', '\udd14', '!'])
        think(reply, { reasoning, content: '' });
      reply.text(TEXT);
    });
    const job = await scene.lock();
    const { deltas, last } = await deltasOf(await scene.ask(job));
    expect(deltas.at(0)).toEqual({ role: 'assistant' });
    expect(deltas.slice(-2)).toEqual([{ content: TEXT }, {}]);
    const thoughts = deltas.map(({ reasoning_content: text = '' }) => text);
    expect(thoughts.join('')).toBe('Hm 🤔!');
    expect(thoughts.every((text) => text.isWellFormed())).toBe(true);
    const hash = createHash('sha256').update(TEXT, 'utf8').digest('hex');
    expect(last.output_hash).toBe(`sha256:${hash}`);
    expect(scene.isSigned(job, last, { details: { reasoning: 'Hm 🤔!' } })).toBe(true);
  });

  it.each([
    ['counts it as OpenAI does', { completion_tokens_details: { reasoning_tokens: 90 } }, 10],
    ['does not count it', {}, boundTokens(TEXT)],
    ['counts too little', { reasoning_tokens: 1 }, boundTokens(TEXT)],
    ['counts more than all', { reasoning_tokens: 500 }, 10],
  ])(
    'is paid for the content alone where its upstream %s',
    async (_how, details, completion_tokens) => {
      const usage = { prompt_tokens: 5, completion_tokens: 100, ...details };
      answerWith((reply) => {
        think(reply, { reasoning_content: 'Hm. '.repeat(30) });
        reply.text(TEXT);
      }, usage);
      const { proof } = await readAnswer(await ask());
      expect(proof).toMatchObject({ completion_tokens, prompt_tokens: 5 });
    },
  );

  it('is cut off where reasoning and content together exceed the token limit', async () => {
    upstream.answerWith((reply) => {
      for (let token = 1; token < TOKEN_LIMIT; token += 1) think(reply, { reasoning: 'hm ' });
      for (let token = 0; token < 9; token += 1) reply.text('a ');
    });
    const { text, finishReason } = await readAnswer(await ask());
    expect([text, finishReason]).toEqual(['a ', 'length']);
  });

  it('gives no proof, and says why, when its reasoning uses the token limit up', async () => {
    answerWith((reply) => think(reply, { reasoning_content: 'Hm.' }), undefined, 'length');
    const response = await ask();
    const { finishReason, error, proof } = await readAnswer(response);
    expect([finishReason, error?.code, proof]).toEqual(['length', 'empty_output', undefined]);
  });

  it('shows signs of life once its reasoning is longer than any answer can be', async () => {
    answerWith((reply) => {
      think(reply, { reasoning: 'x'.repeat(answerCharactersMax(TOKEN_LIMIT)) });
      think(reply, { reasoning: 'and on' });
      reply.text(TEXT);
    });
    const { events, deltas } = await deltasOf(await ask());
    expect(events).toContain('alive');
    expect(deltas.map(({ reasoning_content: text = '' }) => text).join('')).toHaveLength(
      answerCharactersMax(TOKEN_LIMIT),
    );
  });
});
