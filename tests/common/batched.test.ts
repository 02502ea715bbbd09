import { describe, expect, it } from '@jest/globals';
import { batched } from '../../common/postgres.ts';

/** Calls that end when the test says so. */
function createCalls(options: { itemsMax: number; callsMax: number }) {
  const calls: { items: readonly string[]; end: PromiseWithResolvers<readonly string[]> }[] = [];
  const ask = batched<string, string>({
    ...options,
    call(items) {
      const end = Promise.withResolvers<readonly string[]>();
      calls.push({ items, end });
      return end.promise;
    },
  });
  const itemsOf = () => calls.map(({ items }) => items);
  const end = (place: number, results?: string[]) =>
    calls[place]?.end.resolve(results ?? calls[place].items.map((item) => item.toUpperCase()));
  return { ask, calls, itemsOf, end };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a batched call', () => {
  it('delays a call to the next batch when too many run', async () => {
    const { ask, itemsOf, end } = createCalls({ itemsMax: 10, callsMax: 2 });
    const first = ask('a');
    await turn();
    const second = ask('b');
    await turn();
    const later = [ask('c'), ask('d')];
    await turn();
    expect(itemsOf()).toEqual([['a'], ['b']]);
    end(0);
    expect(await first).toBe('A');
    await turn();
    expect(itemsOf()).toEqual([['a'], ['b'], ['c', 'd']]);
    end(1);
    end(2);
    expect(await Promise.all([second, ...later])).toEqual(['B', 'C', 'D']);
  });

  it('holds at most its maximum number of items', async () => {
    const { ask, itemsOf, end } = createCalls({ itemsMax: 2, callsMax: 1 });
    const answers = Promise.all(['a', 'b', 'c'].map(ask));
    await turn();
    expect(itemsOf()).toEqual([['a', 'b']]);
    end(0);
    await turn();
    expect(itemsOf()).toEqual([['a', 'b'], ['c']]);
    end(1);
    expect(await answers).toEqual(['A', 'B', 'C']);
  });

  it('rejects every item of a failed batch and continues', async () => {
    const { ask, calls, itemsOf, end } = createCalls({ itemsMax: 10, callsMax: 1 });
    const failed = Promise.allSettled([ask('a'), ask('b')]);
    await turn();
    calls[0]?.end.reject(new Error('away'));
    for (const { status } of await failed) expect(status).toBe('rejected');
    const next = ask('c');
    await turn();
    expect(itemsOf()).toEqual([['a', 'b'], ['c']]);
    end(1);
    expect(await next).toBe('C');
  });
});
