import { describe, expect, it } from '@jest/globals';
import { createErrorFields } from '../../worker/engine/upstreamEvents.ts';

/** What comes out of it when these pieces go in, one after the other. */
function through(pieces: readonly string[]): string {
  const fields = createErrorFields();
  return pieces.map(fields.add).join('') + fields.flush();
}

function splitsOf(text: string): string[][] {
  const inTwo = Array.from(text, (_, at) => [text.slice(0, at), text.slice(at)]);
  return [[text], [...text], ...inTwo];
}

describe('an error field in an event stream', () => {
  it.each([
    ['error: {"code":500}\n\n', 'event: error\ndata: {"code":500}\n\n'],
    ['data: a\n\nerror: b\n\ndata: c\n\n', 'data: a\n\nevent: error\ndata: b\n\ndata: c\n\n'],
    ['data: a\r\n\r\nerror:b\r\n\r\n', 'data: a\r\n\r\nevent: error\ndata:b\r\n\r\n'],
  ])('becomes an error event, wherever the stream is split: %j', (text, expected) => {
    for (const pieces of splitsOf(text)) expect(through(pieces)).toBe(expected);
  });

  it.each([
    'data: error: no\n\nevent: error\n: error:\nerr\nerror\n\nerro',
    'data: {"a":"error:"}\n\n',
  ])('is not detected where there is none: %j', (text) => {
    for (const pieces of splitsOf(text)) expect(through(pieces)).toBe(text);
  });
});
