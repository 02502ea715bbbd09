import { describe, expect, it } from '@jest/globals';
import { createBuiltinEngine } from '../../worker/engine/builtin.ts';
import type { EngineEvent } from '../../worker/engine/engine.ts';
import type { ChatRequest } from '../../worker/protocol/contracts.ts';

const TOKEN_LIMIT = 10_000;
const engine = createBuiltinEngine({ tokenDelayMs: 0 });

async function generate(
  chat: Partial<ChatRequest> & { content?: string },
  tokenLimit = TOKEN_LIMIT,
  signal = new AbortController().signal,
) {
  const { content = 'Describe Zanzibar.', ...rest } = chat;
  const request = { model: 'any', messages: [{ role: 'user' as const, content }], ...rest };
  const events: EngineEvent[] = [];
  for await (const event of engine.generate(request, { tokenLimit, signal })) events.push(event);
  const end = events.pop();
  if (end?.type !== 'end') throw new Error('the engine did not end its answer');
  const text = events.map((event) => (event.type === 'text' ? event.text : '')).join('');
  return { text, finishReason: end.finishReason, usage: end.usage };
}

describe('the built-in engine', () => {
  it('names itself and writes about the conversation', async () => {
    const { text, finishReason } = await generate({ seed: 3, content: 'Zanzibar '.repeat(300) });
    expect(text).toMatch(/^This is the built-in engine, not a language model;/);
    expect(text).toContain('Zanzibar');
    expect(finishReason).toBe('stop');
  });

  it('generates equal texts for equal conversations and seeds only [completions.stop-and-seed]', async () => {
    const first = await generate({ seed: 1 });
    expect(await generate({ seed: 1 })).toEqual(first);
    expect((await generate({ seed: 2 })).text).not.toBe(first.text);
    expect((await generate({ seed: 1, content: 'Describe Kiel.' })).text).not.toBe(first.text);
  });

  it('generates another text each time without a seed', async () => {
    expect((await generate({})).text).not.toBe((await generate({})).text);
  });

  it('has a natural length of 30 to 59 words, each a token', async () => {
    for (let seed = 0; seed < 50; seed += 1) {
      const { text, usage } = await generate({ seed });
      const words = text.split(' ').length;
      expect(words).toBeGreaterThanOrEqual(30);
      expect(words).toBeLessThan(60);
      expect(usage?.completionTokens).toBe(words);
    }
  });

  it('generates the requested number of words', async () => {
    const { text, finishReason } = await generate({ content: 'Please write 700 words on tides.' });
    expect(text.split(' ')).toHaveLength(700);
    expect(finishReason).toBe('stop');
  });

  it('stops at the token limit with length, and at its own end with stop', async () => {
    const content = 'Write 40 words.';
    expect(await generate({ content }, 39)).toMatchObject({ finishReason: 'length' });
    expect(await generate({ content }, 40)).toMatchObject({
      finishReason: 'stop',
      usage: { completionTokens: 40 },
    });
  });

  it('ends before the first stop sequence, wherever tokens split it [completions.stop-and-seed]', async () => {
    for (const stop of ['engine, not', ['absent', 'engine, not a', 'ine, not']]) {
      const { text, finishReason } = await generate({ stop });
      expect(text).toBe(`This is the built-in ${typeof stop === 'string' ? '' : 'eng'}`);
      expect(finishReason).toBe('stop');
    }
  });

  it('sends text that only began like a stop sequence', async () => {
    const { text } = await generate({ stop: 'engine, nothing' });
    expect(text).toContain('built-in engine, not a language model');
  });

  it('throws the reason of its abort', async () => {
    const ended = AbortSignal.abort(new Error('ended'));
    await expect(generate({}, TOKEN_LIMIT, ended)).rejects.toThrow('ended');
  });
});
