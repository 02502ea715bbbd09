import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Child, keepRunning, type ProcessExit } from '../../stack/child.ts';

const URL = 'http://127.0.0.1:4000';
const KILLED = 'ended unexpectedly (SIGKILL)';
const HOUR_MS = 3_600_000;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

/** A part whose starts are counted, and whose processes a test ends. */
function openPart() {
  const ending = new AbortController();
  const starts: (string | undefined)[] = [];
  const sentences: string[] = [];
  let newest: { report(url: string): void; die(how: string): void } | undefined;
  const startAt = (url?: string): Child => {
    starts.push(url);
    const ready = Promise.withResolvers<string>();
    const exited = Promise.withResolvers<ProcessExit>();
    ready.promise.catch(() => undefined);
    newest = {
      report: ready.resolve,
      die(how) {
        ready.reject(new Error(how));
        exited.resolve({ how, lastLines: '' });
      },
    };
    return {
      ready: ready.promise,
      exited: exited.promise,
      stop: async () => undefined,
    };
  };
  const part = keepRunning({
    name: 'worker-1',
    startAt,
    ending: ending.signal,
    onRestart: (sentence) => sentences.push(sentence),
  });
  return {
    part,
    starts,
    sentences,
    newest: () => newest as NonNullable<typeof newest>,
    end: () => ending.abort(),
  };
}

/** The same, once it runs. */
async function openRunning() {
  const opened = openPart();
  opened.newest().report(URL);
  expect(await opened.part.ready).toBe(URL);
  return opened;
}

describe('a part that dies', () => {
  it('starts again at its first address, after pauses that double to a limit', async () => {
    const { starts, sentences, newest } = await openRunning();
    for (const seconds of [0.5, 1, 2, 4, 8, 16, 30, 30]) {
      const before = starts.length;
      newest().die(KILLED);
      await pass(seconds * 1_000 - 1);
      expect(starts).toHaveLength(before);
      expect(sentences.at(-1)).toBe(`The worker-1 ${KILLED} and starts again in ${seconds} s.`);
      await pass(1);
      expect(starts).toHaveLength(before + 1);
    }
    expect(new Set(starts.slice(1))).toEqual(new Set([URL]));
  });

  it('starts again after the shortest pause once it has lived a minute', async () => {
    const { sentences, newest } = await openRunning();
    for (const [lifeMs, seconds] of [
      [0, 0.5],
      [59_999, 1],
      [60_000, 0.5],
    ] as const) {
      await pass(lifeMs);
      newest().die(KILLED);
      await pass(seconds * 1_000);
      expect(sentences.at(-1)).toMatch(`starts again in ${seconds} s.`);
    }
  });

  it('stays down when its first start fails', async () => {
    const { part, starts, sentences, newest } = openPart();
    newest().die('ended unexpectedly (exit code 1)');
    await expect(part.ready).rejects.toThrow('exit code 1');
    await pass(HOUR_MS);
    expect({ starts, sentences }).toEqual({ starts: [undefined], sentences: [] });
  });

  it.each<[string, (opened: Awaited<ReturnType<typeof openRunning>>) => unknown]>([
    ['the part was stopped', ({ part }) => part.stop()],
    ['the stack ends', ({ end }) => end()],
  ])('stays down, without a word, after %s', async (_case, leave) => {
    const opened = await openRunning();
    const { starts, sentences } = opened;
    await leave(opened);
    opened.newest().die(KILLED);
    await pass(HOUR_MS);
    expect({ starts, sentences }).toEqual({ starts: [undefined], sentences: [] });
  });

  it('does not start again when it is stopped during the pause', async () => {
    const { part, starts, sentences, newest } = await openRunning();
    newest().die(KILLED);
    await pass(100);
    expect(sentences).toHaveLength(1);
    await part.stop();
    await pass(HOUR_MS);
    expect(starts).toHaveLength(1);
  });
});
