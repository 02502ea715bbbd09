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
  const refuse = (code: string, statusCode: number) => {
    const body = Readable.from([Buffer.from(JSON.stringify({ error: { code } }))]);
    const headers = { 'retry-after': '7' };
    const response: unknown = { statusCode, headers, body };
    return readRefusal(response as Parameters<typeof readRefusal>[0]);
  };

  it.each(codes)('counts against it unless it is not its fault: %s', async (code) => {
    const isBlameless = blameless.includes(code);
    expect(await refuse(code, STATUS_OF_WORKER_ERROR[code])).toMatchObject({
      code,
      busy: isBlameless ? { retryAfterMs: 7_000 } : undefined,
    });
  });

  it('never counts against it when it is a 429', async () => {
    expect(await refuse('upstream_failed', 429)).toMatchObject({ busy: { retryAfterMs: 7_000 } });
  });
});
