import { describe, expect, it } from '@jest/globals';
import { createBuiltinEngine } from '../../worker/engine/builtin.ts';
import type { EngineEvent } from '../../worker/engine/engine.ts';
import type { ChatRequest } from '../../worker/protocol/contracts.ts';

const TOKEN_LIMIT = 10_000;
const engine = createBuiltinEngine({ tokenDelayMs: 0 });

async function generate(
  chat: Partial<ChatRequest> & { content?: string },
  tokenLimit = TOKEN_LIMIT,
) {
  const { signal } = new AbortController();
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
  it('generates equal texts for equal conversations and seeds only [completions.stop-and-seed]', async () => {
    const first = await generate({ seed: 1 });
    expect(await generate({ seed: 1 })).toEqual(first);
    expect((await generate({ seed: 2 })).text).not.toBe(first.text);
    expect((await generate({ seed: 1, content: 'Describe Kiel.' })).text).not.toBe(first.text);
    expect((await generate({})).text).not.toBe((await generate({})).text);
  });

  it('generates the requested number of words, each a token', async () => {
    const content = 'Please write 700 words on tides.';
    const { text, finishReason, usage } = await generate({ content });
    expect(text.split(' ')).toHaveLength(700);
    expect([finishReason, usage?.completionTokens]).toEqual(['stop', 700]);
    expect(await generate({ content }, 699)).toMatchObject({ finishReason: 'length' });
  });

  it('ends before the first stop sequence, wherever tokens split it [completions.stop-and-seed]', async () => {
    for (const stop of ['engine, not', ['absent', 'engine, not a', 'ine, not']]) {
      const { text, finishReason } = await generate({ stop });
      expect(text).toBe(`This is the built-in ${typeof stop === 'string' ? '' : 'eng'}`);
      expect(finishReason).toBe('stop');
    }
  });
});
