/** One caller's part of a shared call. */
interface Waiting<Item, Result> extends PromiseWithResolvers<Result> {
  item: Item;
}

/**
 * Lets many callers share calls that cost much the same for one item as for many, such as a
 * statement. With few callers each is served at once and alone; whoever comes while `callsMax` calls
 * are under way goes with the next, so that under load a call carries the more the longer it takes.
 *
 * @param options.callOne serves a lone item at less cost; by default `call` does
 * @param options.call serves the items and gives their results in the same order, or none where
 *   there is nothing to give; its error is everybody's whose item it had
 */
export function gather<Item, Result>(options: {
  callOne?: (item: Item) => Promise<Result>;
  call: (items: readonly Item[]) => Promise<readonly Result[]>;
  itemsMax: number;
  callsMax: number;
}): (item: Item) => Promise<Result> {
  const { callOne, call, itemsMax, callsMax } = options;
  let waiting: Waiting<Item, Result>[] = [];
  let calls = 0;

  async function resultsOf(items: readonly Item[]): Promise<readonly Result[]> {
    const [item] = items;
    if (callOne && items.length === 1) return [await callOne(item as Item)];
    return call(items);
  }

  async function serve(served: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await resultsOf(served.map(({ item }) => item));
      for (const [place, { resolve }] of served.entries()) resolve(results[place] as Result);
    } catch (error) {
      for (const { reject } of served) reject(error);
    }
  }

  async function pump(): Promise<void> {
    if (waiting.length === 0 || calls === callsMax) return;
    calls += 1;
    while (waiting.length > 0) {
      const served = waiting.slice(0, itemsMax);
      waiting = waiting.slice(itemsMax);
      await serve(served);
    }
    calls -= 1;
  }

  return (item) => {
    const one = { item, ...Promise.withResolvers<Result>() };
    waiting.push(one);
    // Whoever comes in the same turn of the event loop goes along.
    setImmediate(pump);
    return one.promise;
  };
}
