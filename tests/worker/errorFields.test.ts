import { describe, expect, it } from '@jest/globals';
import { createErrorFieldStream } from '../../worker/engine/errorFields.ts';

/** What comes out of it when these pieces go in, one after the other. */
async function through(pieces: readonly string[]): Promise<string> {
  let text = '';
  for await (const piece of ReadableStream.from(pieces).pipeThrough(createErrorFieldStream())) {
    text += piece;
  }
  return text;
}

function splitsOf(text: string): string[][] {
  const inTwo = Array.from(text, (_, at) => [text.slice(0, at), text.slice(at)]);
  return [[text], [...text], ...inTwo];
}

describe('a field of errors in a stream of events', () => {
  it.each([
    ['error: {"code":500}\n\n', 'event: error\ndata: {"code":500}\n\n'],
    ['data: a\n\nerror: b\n\ndata: c\n\n', 'data: a\n\nevent: error\ndata: b\n\ndata: c\n\n'],
    ['data: a\r\n\r\nerror:b\r\n\r\n', 'data: a\r\n\r\nevent: error\ndata:b\r\n\r\n'],
  ])('becomes an event of that name wherever the pieces end: %j', async (text, expected) => {
    for (const pieces of splitsOf(text)) expect(await through(pieces)).toBe(expected);
  });

  it.each([
    'data: error: no\n\nevent: error\n: error:\nerr\nerror\n\nerro',
    'data: {"a":"error:"}\n\n',
  ])('is not seen where there is none: %j', async (text) => {
    for (const pieces of splitsOf(text)) expect(await through(pieces)).toBe(text);
  });
});
