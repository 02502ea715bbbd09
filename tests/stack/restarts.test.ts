import { describe, expect, it } from '@jest/globals';
import { delay } from '../../common/wait.ts';
import { type Child, type Death, keepRunning } from '../../stack/child.ts';
import { until } from './startedStack.ts';

const URL = 'http://127.0.0.1:4000';

/** A part whose starts are counted, and whose processes a test ends. */
function openPart(
  options: { ending?: AbortSignal; longLifeMs?: number; leastPauseMs?: number } = {},
) {
  const { ending = new AbortController().signal, longLifeMs = 60_000, leastPauseMs = 10 } = options;
  const starts: (string | undefined)[] = [];
  const sentences: string[] = [];
  let newest: { report(url: string): void; die(how: string): void } | undefined;
  let stops = 0;
  const startAt = (url?: string): Child => {
    starts.push(url);
    const ready = Promise.withResolvers<string>();
    const died = Promise.withResolvers<Death>();
    ready.promise.catch(() => undefined);
    newest = {
      report: ready.resolve,
      die(how) {
        ready.reject(new Error(how));
        died.resolve({ how, lastLines: '' });
      },
    };
    return {
      ready: ready.promise,
      died: died.promise,
      stop: async () => {
        stops += 1;
      },
    };
  };
  const part = keepRunning({
    name: 'worker-1',
    startAt,
    ending,
    longLifeMs,
    onRestart: (sentence) => sentences.push(sentence),
    pauseMs: { least: leastPauseMs, most: 40 },
  });
  return {
    part,
    starts,
    sentences,
    newest: () => newest as NonNullable<typeof newest>,
    stops: () => stops,
    startsAre: (count: number) => until(() => starts.length === count),
  };
}

describe('a part that dies', () => {
  it('starts again at its first address, after pauses that double to a limit', async () => {
    const { part, starts, sentences, newest, startsAre } = openPart();
    newest().report(URL);
    expect(await part.ready).toBe(URL);
    for (let count = 2; count <= 5; count += 1) {
      newest().die('ended unexpectedly (SIGKILL)');
      await startsAre(count);
    }
    expect(starts).toEqual([undefined, URL, URL, URL, URL]);
    const pauses = ['0.01', '0.02', '0.04', '0.04'];
    expect(sentences).toEqual(
      pauses.map(
        (pause) => `The worker-1 ended unexpectedly (SIGKILL) and starts again in ${pause} s.`,
      ),
    );
  });

  it('is reported when it runs again, and only then', async () => {
    const { part, sentences, newest, startsAre } = openPart();
    newest().report(URL);
    await part.ready;
    newest().die('ended unexpectedly (exit code 1)');
    await startsAre(2);
    expect(sentences).toHaveLength(1);
    newest().report(URL);
    await until(() => sentences.length === 2);
    expect(sentences[1]).toBe('The worker-1 runs again.');
  });

  it('has the shortest pause again after a long life', async () => {
    const { part, sentences, newest, startsAre } = openPart({ longLifeMs: 0 });
    newest().report(URL);
    await part.ready;
    for (const count of [2, 3]) {
      newest().die('ended unexpectedly (SIGKILL)');
      await startsAre(count);
    }
    expect(sentences.every((sentence) => sentence.endsWith('in 0.01 s.'))).toBe(true);
  });

  it('stays down when its first start fails', async () => {
    const { part, starts, sentences, newest } = openPart();
    newest().die('ended unexpectedly (exit code 1)');
    await expect(part.ready).rejects.toThrow('exit code 1');
    await delay(50);
    expect({ starts, sentences }).toEqual({ starts: [undefined], sentences: [] });
  });

  it.each([
    ['the part was stopped', 'stop'],
    ['the stack ends', 'end'],
  ])('stays down, without a word, after %s', async (_case, way) => {
    const ending = new AbortController();
    const { part, starts, sentences, newest, stops } = openPart({ ending: ending.signal });
    newest().report(URL);
    await part.ready;
    if (way === 'stop') await part.stop();
    else ending.abort();
    newest().die('ended unexpectedly (SIGKILL)');
    await delay(50);
    expect({ starts, sentences }).toEqual({ starts: [undefined], sentences: [] });
    expect(stops()).toBe(way === 'stop' ? 1 : 0);
  });

  it('does not start again when it is stopped during the pause', async () => {
    const { part, starts, sentences, newest } = openPart({ leastPauseMs: 1_000 });
    newest().report(URL);
    await part.ready;
    newest().die('ended unexpectedly (SIGKILL)');
    await until(() => sentences.length === 1);
    await part.stop();
    await delay(1_200);
    expect(starts).toHaveLength(1);
  });
});
