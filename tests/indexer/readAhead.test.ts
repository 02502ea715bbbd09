import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { LedgerEvent, LedgerTransaction } from '../../indexer/fold/event.ts';
import { BATCH_MAX, EVENTS_MAX, READS_AT_ONCE, readAhead } from '../../indexer/source/readAhead.ts';
import type { LedgerSource, ListedTransaction } from '../../indexer/source/source.ts';
import { createSyntheticSource } from '../../testing/indexer/syntheticSource.ts';

interface SlowNode {
  readonly source: LedgerSource;
  /** The transactions that it was asked for. */
  readonly asked: string[];
  /** Answers a question. */
  show(signature: string, events?: number): Promise<void>;
  refuse(signature: string): Promise<void>;
}

/** A node that answers when the test lets it. */
function createSlowNode(): SlowNode {
  const answers = new Map<string, PromiseWithResolvers<LedgerTransaction>>();
  const answerOf = (signature: string) => {
    const answer = answers.get(signature);
    if (!answer) throw new Error(`No request for ${signature}`);
    return answer;
  };
  return {
    source: {
      ...createSyntheticSource(1),
      async read({ signature }) {
        const answer = Promise.withResolvers<LedgerTransaction>();
        answers.set(signature, answer);
        return answer.promise;
      },
    },
    get asked() {
      return [...answers.keys()];
    },
    async show(signature, events = 1) {
      const emitted = Array<LedgerEvent>(events).fill({} as LedgerEvent);
      answerOf(signature).resolve({ signature, slot: 1n, events: emitted });
      await turn();
    },
    async refuse(signature) {
      answerOf(signature).reject(new Error('refused'));
      await turn();
    },
  };
}

function listed(length: number): ListedTransaction[] {
  return Array.from({ length }, (_, index) => ({
    ...{ signature: String(index), slot: 1n, failed: false },
  }));
}

async function signaturesOf(
  batch: Promise<IteratorResult<readonly LedgerTransaction[]>>,
): Promise<string[] | undefined> {
  const { value } = await batch;
  return value?.map(({ signature }: LedgerTransaction) => signature);
}

function readAsIs(source: LedgerSource, transactions: ListedTransaction[]) {
  return readAhead(source, transactions, (transaction) => transaction);
}

describe('the read-ahead', () => {
  it('yields together, in order, what has arrived since', async () => {
    const node = createSlowNode();
    const batches = readAsIs(node.source, listed(5));
    const first = batches.next();
    for (const signature of ['4', '2', '0', '1']) await node.show(signature);
    expect(await signaturesOf(first)).toEqual(['0']);
    expect(await signaturesOf(batches.next())).toEqual(['1', '2']);
    const last = batches.next();
    await node.show('3');
    expect(await signaturesOf(last)).toEqual(['3', '4']);
    expect((await batches.next()).done).toBe(true);
  });

  it('reads 100 transactions at a time and holds at most 512', async () => {
    expect([READS_AT_ONCE, BATCH_MAX]).toEqual([100, 512]);
    const node = createSlowNode();
    const batches = readAsIs(node.source, listed(1_000));
    const first = batches.next();
    expect(node.asked).toHaveLength(100);
    await node.show('0');
    await first;
    for (let next = 1; next < node.asked.length; next += 1) await node.show(String(next));
    expect(node.asked).toHaveLength(513);
    expect(await signaturesOf(batches.next())).toHaveLength(512);
    await turn();
    expect(node.asked).toHaveLength(513 + 100);
  });

  it.each([1, 7, 100])(
    'yields everything in order from a node that answers at once, %d a time',
    async (readsAtOnce) => {
      const source = createSyntheticSource(1_300);
      const transactions = await source.list({ commitment: 'finalized', limit: 1_300 });
      const yielded: string[] = [];
      for await (const batch of readAsIs({ ...source, readsAtOnce }, transactions)) {
        yielded.push(...batch.map(({ signature }) => signature));
      }
      expect(yielded).toEqual(transactions.map(({ signature }) => signature));
    },
  );

  it('holds at most 2,500 events, besides reads in progress', async () => {
    expect(EVENTS_MAX).toBe(2_500);
    const node = createSlowNode();
    const batches = readAsIs({ ...node.source, readsAtOnce: 8 }, listed(100));
    const first = batches.next();
    await node.show('0');
    await first;
    for (let next = 1; next < node.asked.length; next += 1) await node.show(String(next), 250);
    expect(node.asked).toHaveLength(1 + 10 + 7);
  });

  it('stops reading when its consumer stops', async () => {
    const node = createSlowNode();
    const batches = readAsIs(node.source, listed(100));
    const first = batches.next();
    await node.show('0');
    await first;
    const asked = node.asked.length;
    await batches.return(undefined);
    await node.refuse('1');
    await node.show('2');
    expect(node.asked).toHaveLength(asked);
  });
});
