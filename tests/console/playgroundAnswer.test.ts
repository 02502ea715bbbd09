import { describe, expect, it } from '@jest/globals';
import { NO_ANSWER, readChunk } from '../../console/pages/playground/answer.ts';

type Chunk = Parameters<typeof readChunk>[1];

const chunkOf = (delta: object) => ({ choices: [{ index: 0, delta }] }) as unknown as Chunk;
const call = (index: number, called: object, first: object = {}) =>
  chunkOf({ tool_calls: [{ index, ...first, function: called }] });

describe('an answer in the playground', () => {
  it('has the calls of tools as they come, and an earlier one may go on', () => {
    let answer = NO_ANSWER;
    const take = (chunk: Chunk, ms: number) => {
      answer = { ...answer, ...readChunk(answer, chunk, () => ms) };
      return answer.calls.map(({ name, ...one }) => `${one.id} ${name}(${one.arguments})`);
    };
    const begin = (index: number, id: string) =>
      call(index, { name: 'f', arguments: '' }, { id, type: 'function' });
    expect(take(chunkOf({ role: 'assistant', content: '' }), 1)).toEqual([]);
    expect(take(begin(0, 'a'), 2)).toEqual(['a f()']);
    expect(take(call(0, { arguments: '{"x"' }), 3)).toEqual(['a f({"x")']);
    expect(take(begin(1, 'b'), 4)).toEqual(['a f({"x")', 'b f()']);
    expect(take(call(0, { arguments: ':1}' }), 5)).toEqual(['a f({"x":1})', 'b f()']);
    expect(take(chunkOf({ content: 'Text.' }), 6)).toHaveLength(2);
    expect(answer).toMatchObject({ text: 'Text.', firstTextMs: 2 });
  });

  it('takes no call that clients read differently', () => {
    const late = call(1, { name: 'f', arguments: '' }, { id: 'a' });
    expect(() => readChunk(NO_ANSWER, late, () => 1)).toThrow('Not all clients');
  });
});
