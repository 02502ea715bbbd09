import { listPages } from '../../indexer/source/listPages.ts';
import type { LedgerSource, ListedTransaction } from '../../indexer/source/source.ts';
import { createSyntheticSource } from './syntheticSource.ts';

// Prints how many transactions a walk through each of the given numbers of them held at most. A
// process of its own: collecting garbage after each page takes its time from what else is on the heap.

const { gc: collectGarbage } = globalThis;
if (!collectGarbage) throw new Error('Needs --expose-gc');
const collect: () => unknown = collectGarbage;

/** What was held is watched by weak references. */
async function countHeld(transactions: number): Promise<number> {
  const source = createSyntheticSource(transactions);
  const given = new Set<WeakRef<ListedTransaction>>();
  let held = 0;
  let walked = 0;
  const list: LedgerSource['list'] = async (query) => {
    const page = await source.list(query);
    // What a turn of the event loop has looked at stays until its end.
    await new Promise((resolve) => setImmediate(resolve));
    collect();
    for (const reference of given) if (!reference.deref()) given.delete(reference);
    for (const listed of page) given.add(new WeakRef(listed));
    held = Math.max(held, given.size);
    return page;
  };
  const walk = listPages({ ...source, list }, { commitment: 'confirmed', slot: 0n });
  for await (const page of walk) walked += page.length;
  if (walked !== transactions) throw new Error(`Walked through ${walked}, not ${transactions}`);
  return held;
}

const counts: number[] = [];
for (const transactions of process.argv.slice(2))
  counts.push(await countHeld(Number(transactions)));
process.stdout.write(JSON.stringify(counts));
