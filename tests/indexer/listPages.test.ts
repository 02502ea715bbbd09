import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { RetryableError } from '../../indexer/source/errors.ts';
import { listPages } from '../../indexer/source/listPages.ts';
import type { LedgerSource } from '../../indexer/source/source.ts';
import { MACHINE_ENVIRONMENT } from '../../testing/childProcess.ts';
import { createSyntheticSource } from '../../testing/indexer/syntheticSource.ts';

const COUNT_HELD = fileURLToPath(new URL('../../testing/indexer/countHeld.ts', import.meta.url));

async function collect(source: LedgerSource, slot = 0n): Promise<string[]> {
  const signatures: string[] = [];
  for await (const page of listPages(source, { commitment: 'confirmed', slot })) {
    signatures.push(...page.map(({ signature }) => signature));
  }
  return signatures;
}

/** The most transactions that a walk through each of these numbers held at once. */
async function countHeld(...transactions: number[]): Promise<number[]> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', COUNT_HELD, ...transactions.map(String)],
    { env: MACHINE_ENVIRONMENT },
  );
  return JSON.parse(stdout);
}

/**
 * A page of a hundred, eleven of a thousand, of which a slot's four come again, and the rest. Then
 * twice the oldest slot alone, and twice the empty page behind it.
 */
const WALK_OF_12_000 = 17;

/** A node with 12,000 transactions, some of whose answers leave one out, or everything. */
function leavingOut(
  signature: string | 'everything',
  isLeftOut: (question: number) => boolean,
): LedgerSource {
  const source = createSyntheticSource(12_000);
  return {
    ...source,
    async list(query) {
      const page = await source.list(query);
      if (!isLeftOut(source.questions)) return page;
      return signature === 'everything'
        ? []
        : page.filter((listed) => listed.signature !== signature);
    },
  };
}

/** Every other answer is a node's that has each slot the other way round. */
function disagreeing(transactions: number): LedgerSource {
  const source = createSyntheticSource(transactions);
  return {
    ...source,
    async list({ commitment, before, limit }) {
      const { questions } = source;
      const all = await source.list({ commitment, before: undefined, limit: transactions });
      const listed = questions % 2 === 0 ? all : all.toReversed();
      // Sorting is stable: within a slot the order stays.
      const ordered = listed.toSorted((a, b) => Number(b.slot - a.slot));
      const start = ordered.findIndex(({ signature }) => signature === before) + 1;
      return ordered.slice(start, start + limit);
    },
  };
}

const inOrder = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `synthetic-${from + index}`);

describe('a walk through a history', () => {
  it('yields every transaction once, oldest first', async () => {
    expect(await collect(createSyntheticSource(12_345))).toEqual(inOrder(0, 12_345));
  });

  it('holds a bounded number of transactions, however long the history is', async () => {
    const [short = NaN, long = NaN] = await countHeld(10_000, 40_000);
    expect(short).toBeLessThan(7_000);
    // Of each further page, only where it begins.
    expect(long - short).toBeLessThanOrEqual(31);
  });

  it('requests one page when that page reaches back to the slot', async () => {
    const source = createSyntheticSource(40_000);
    expect(await collect(source, 10_000n)).toEqual(inOrder(39_996, 40_000));
    expect(source.questions).toBe(1);
  });

  it('yields what has appeared in a page since it was first listed', async () => {
    const late = leavingOut('synthetic-9500', (question) => question <= WALK_OF_12_000);
    expect(await collect(late)).toEqual(inOrder(0, 12_000));
  });

  it('misses nothing when nodes disagree about the order within a slot', async () => {
    // The first hundred end in the middle of a slot.
    const given = await collect(disagreeing(12_002));
    expect(given.toSorted()).toEqual(inOrder(0, 12_002).toSorted());
  });

  it('stops when it can no longer find where the next page begins', async () => {
    const forgetful = leavingOut('synthetic-10908', (question) => question > WALK_OF_12_000);
    await expect(collect(forgetful)).rejects.toThrow(RetryableError);
  });

  it.each([1, 3, 4, 5, 99, 100, 101, 104, 1_100])(
    'ends at the beginning of a history of %i transactions',
    async (transactions) => {
      expect(await collect(createSyntheticSource(transactions))).toEqual(inOrder(0, transactions));
    },
  );

  it('takes no empty page for the beginning while a slot is to be read again', async () => {
    const source = leavingOut('everything', (question) => question === 3 || question === 4);
    await expect(collect(source)).rejects.toThrow(RetryableError);
  });

  it.each([
    ['an empty history', 0, undefined],
    ['the end of one', 3, 1n],
  ])(
    'accepts an empty page for %s unless an older transaction is known',
    async (_name, length, at) => {
      const walk = (known: boolean) => {
        const isKnown = async (before: bigint | undefined) => known && before === at;
        const query = { commitment: 'finalized', slot: 0n, isKnown } as const;
        return listPages(createSyntheticSource(length), query).next();
      };
      expect((await walk(false)).done).toBe(false);
      await expect(walk(true)).rejects.toThrow(RetryableError);
    },
  );

  it('refuses a page that is newer than requested', async () => {
    const source = createSyntheticSource(5_000);
    const list: LedgerSource['list'] = (query) => source.list({ ...query, before: undefined });
    await expect(collect({ ...source, list })).rejects.toThrow('out of its order');
  });
});
