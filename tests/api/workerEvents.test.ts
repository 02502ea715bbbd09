import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { readEvents, readRefusal, type WorkerEvent } from '../../api/workers/events.ts';
import { STATUS_OF_WORKER_ERROR, type WorkerErrorCode } from '../../common/workerProtocol.ts';

const delta = (content: string) =>
  `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;
const content = (text: string): WorkerEvent => ({ type: 'content', text });

async function* chunked(...chunks: string[]) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}

/** What is heard of a body with these chunks, up to its error. */
async function hear(...chunks: string[]) {
  const heard: (readonly WorkerEvent[])[] = [];
  try {
    for await (const events of readEvents(chunked(...chunks))) heard.push(events);
    return { heard };
  } catch (error) {
    return { heard, error };
  }
}

describe('the events of a worker’s answer', () => {
  it('are emitted together, in order, when they arrive together', async () => {
    expect(await hear(delta('a') + delta('b'), delta('c'))).toEqual({
      heard: [[content('a'), content('b')], [content('c')]],
    });
  });

  it('are emitted once they are complete, wherever the network cuts them', async () => {
    const [first, second] = [delta('ä'), delta('b')];
    const bytes = Buffer.from(first + second);
    for (let at = 1; at < bytes.length; at += 1) {
      const heard: WorkerEvent[] = [];
      const cut = async function* () {
        yield bytes.subarray(0, at);
        yield bytes.subarray(at);
      };
      for await (const events of readEvents(cut())) heard.push(...events);
      expect(heard).toEqual([content('ä'), content('b')]);
    }
  });

  it('have the pieces of calls, and none that says nothing', async () => {
    const calls = (...tool_calls: object[]) =>
      `data: ${JSON.stringify({ choices: [{ delta: { tool_calls } }] })}\n\n`;
    const first = { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } };
    const { heard } = await hear(
      calls(first, { index: 0, function: { arguments: '{' } }),
      calls({ index: 0 }, { index: 0, function: { arguments: '' } }),
    );
    const named = { id: 'c', name: 'f', text: '' };
    expect(heard).toEqual([
      [
        { ...{ type: 'call', index: 0 }, ...named },
        { ...{ type: 'call', index: 0 }, id: undefined, name: undefined, text: '{' },
      ],
      [],
    ]);
    const half = { index: 0, function: { arguments: '\ud83d' } };
    for (const wrong of [half, { ...first, id: '\ud83d' }, { ...first, index: -1 }, {}]) {
      expect((await hear(calls(wrong))).error).toMatchObject({ code: 'malformed_event' });
    }
  });

  it.each([
    ['an error', 'event: error\ndata: {"error":{"code":"worker_failed","message":"x"}}\n\n'],
    ['what is no event', 'data: {"choices":\n\n'],
  ])('are emitted before %s that came in the same chunk', async (_what, last) => {
    const { heard, error } = await hear(delta('a') + last + delta('b'));
    expect(heard).toEqual([[content('a')]]);
    expect(error).toMatchObject({ name: 'WorkerFailedError' });
  });
});

describe('a refusal of a worker', () => {
  const codes = Object.keys(STATUS_OF_WORKER_ERROR) as WorkerErrorCode[];
  const blameless: readonly string[] = [
    ...['no_free_slot', 'shutting_down', 'upstream_not_ready', 'worker_not_eligible'],
    ...['job_not_open', 'job_not_found', 'job_not_running', 'attempt_already_used'],
    ...['gateway_not_served', 'signer_not_allowed', 'share_too_low', 'suspicious_lock'],
  ];
  const refuse = (
    code: string | null,
    statusCode: number,
    retryAfter: string | undefined = '7',
    retry_after?: unknown,
  ) => {
    const text = code === null ? 'no JSON' : JSON.stringify({ error: { code, retry_after } });
    const headers = { 'retry-after': retryAfter || undefined };
    const response: unknown = { statusCode, headers, body: Readable.from([Buffer.from(text)]) };
    return readRefusal(response as Parameters<typeof readRefusal>[0]);
  };

  it.each(codes)('counts against it unless it is not its fault: %s', async (code) => {
    const isBlameless = blameless.includes(code);
    expect(await refuse(code, STATUS_OF_WORKER_ERROR[code])).toMatchObject({
      code,
      busy: isBlameless ? { retryAfterMs: 7_000 } : undefined,
    });
  });

  it.each([
    [503, 'no_free_slot', '', 'no_free_slot', { retryAfterMs: undefined }],
    [503, 'shutting_down', '0', 'shutting_down', { retryAfterMs: undefined }],
    [429, 'upstream_failed', '7', 'upstream_failed', { retryAfterMs: 7_000 }],
    [429, 'slow_down', '20', 'unknown_code', { retryAfterMs: 20_000 }],
    [429, null, 'Fri, 31 Dec 1999 23:59:59 GMT', 'status_429', { retryAfterMs: undefined }],
    [503, null, '3', 'status_503', undefined],
    [503, 'no_free_slot', '3600', 'no_free_slot', { retryAfterMs: 60_000 }],
  ])('with %i %s and Retry-After %j is read as %s, busy: %j', async (...given) => {
    const [status, word, after, code, busy] = given;
    expect(await refuse(word, status, after)).toMatchObject({ code, busy });
  });

  it.each([
    [9, 9_000],
    [3_600, 60_000],
    [0, undefined],
    ['soon', undefined],
    [undefined, undefined],
  ])('says in its body, too, when to ask again: %j', async (retry_after, retryAfterMs) => {
    const expected = { code: 'no_free_slot', busy: { retryAfterMs } };
    expect(await refuse('no_free_slot', 503, '', retry_after)).toMatchObject(expected);
    const data = JSON.stringify({ error: { code: 'no_free_slot', message: 'x', retry_after } });
    const { error } = await hear('event: alive\ndata: {}\n\n', `event: error\ndata: ${data}\n\n`);
    expect(error).toMatchObject(expected);
  });
});
