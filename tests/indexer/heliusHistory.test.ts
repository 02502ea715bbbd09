import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { createLogger } from '../../common/logger.ts';
import { storeFinal } from '../../indexer/mirror/finalize.ts';
import type { MirrorContext } from '../../indexer/mirror/progress.ts';
import { fillGaps } from '../../indexer/mirror/sweep.ts';
import { FatalError } from '../../indexer/source/errors.ts';
import { createHistorySource } from '../../indexer/source/heliusHistory.ts';
import type { LedgerSource, ListedTransaction } from '../../indexer/source/source.ts';
import { clearMirror, digestTables } from '../../indexer/sql/digest.ts';
import type { LedgerNode } from '../../programs/client/rpc/rpc.ts';
import { ownClient, ownMirror } from '../../testing/indexer/own.ts';
import { readHistory } from '../../testing/indexer/scene.ts';
import { createSyntheticSource } from '../../testing/indexer/syntheticSource.ts';
import { contextOf } from './mirrorContext.ts';

/** Of a history, as Helius shows it. */
type Row = Pick<ListedTransaction, 'signature'> & { slot: number; err: null };
const TRANSACTIONS = 60;
const ROWS_PER_PAGE = 5;
/** So far apart that the ledger's own list does not reach back over another. */
const SLOTS_APART = 1_000n;
const SLOT_MAX = 100_000n;

const mirror = await ownMirror();
const client = await ownClient(mirror);
const ledger = createLedger();
let all: Row[];
let pagesAsked: number;
/** What is shown of the history's rows, oldest first. */
let show: (rows: Row[]) => Row[];
/** Stands between a page and who asked for it; counted from 0. */
let alterPage: (rows: Row[], page: number) => Row[];
let registry: Registry;
let source: ReturnType<typeof createHistorySource>;
let context: MirrorContext;
let digest: Record<string, string>;

/** Each transaction has a slot of its own. */
function createLedger(): LedgerSource {
  const source = createSyntheticSource(TRANSACTIONS);
  const slotOf = (signature: string) => BigInt(signature.split('-')[1] ?? 0) * SLOTS_APART + 1n;
  return {
    ...source,
    async list(query) {
      const page = await source.list(query);
      return page.map((listed) => ({ ...listed, slot: slotOf(listed.signature) }));
    },
  };
}

/** Plays Helius, which lists the oldest transactions first. */
const helius: LedgerNode = {
  async ask(method, [, config], read) {
    expect(method).toBe('getTransactionsForAddress');
    // Of whole transactions it refuses the versions that the question does not name.
    expect(config).toMatchObject({ sortOrder: 'asc', transactionDetails: 'signatures' });
    const { filters, paginationToken } = config as {
      filters: { slot: { gte: number; lte: number } };
      paginationToken?: string;
    };
    const page = pagesAsked;
    pagesAsked += 1;
    const { gte, lte } = filters.slot;
    const rows = show(all.filter(({ slot }) => slot >= gte && slot <= lte));
    const start = Number(paginationToken ?? 0);
    const end = start + ROWS_PER_PAGE;
    const data = alterPage(rows.slice(start, end), page);
    return read({ data, paginationToken: end < rows.length ? `${end}` : null });
  },
};

beforeAll(async () => {
  await mirror.apply(await readHistory(ledger));
  digest = await digestTables(client);
  const listed = await ledger.list({ commitment: 'finalized', limit: TRANSACTIONS });
  all = listed
    .map(({ signature, slot }) => ({ signature, slot: Number(slot), err: null }))
    .toReversed();
});

beforeEach(async () => {
  await clearMirror(mirror.pool);
  pagesAsked = 0;
  [show, alterPage] = [(rows) => rows, (rows) => rows];
  registry = new Registry();
  source = createHistorySource({
    ...{ source: ledger, node: helius, programId: 'the program', registry },
    logger: createLogger({ name: 'test', level: 'silent' }),
  });
  context = contextOf(client, source);
});

async function sync(): Promise<void> {
  await clearMirror(mirror.pool);
  await storeFinal(context, SLOT_MAX);
}

/** The tables are as they must be, and Helius's part in that ended as expected. */
async function expectSynced(result: 'listed' | 'failed'): Promise<void> {
  expect(await digestTables(client)).toEqual(digest);
  expect(await registry.metrics()).toContain(`svc_helius_histories_total{result="${result}"} 1`);
}

describe('a Helius history, which lists the oldest transactions first', () => {
  it('yields the same tables page after page', async () => {
    await sync();
    await expectSynced('listed');
    expect(pagesAsked).toBeGreaterThan(5);
  });

  it('may omit a transaction, which the gap search then finds', async () => {
    show = (rows) => rows.filter((_row, index) => index !== 20);
    await sync();
    expect(await digestTables(client)).not.toEqual(digest);
    await fillGaps(context);
    await expectSynced('listed');
  });
});

/** Its first page, as often as it is asked for one. */
function onlyFirst(): typeof alterPage {
  let first: Row[] = [];
  return (rows, page) => {
    if (page === 0) first = rows;
    return first;
  };
}

describe('a Helius history that is not as it should be yields the same tables:', () => {
  it.each<[string, 'listed' | 'failed', { show?: typeof show; alterPage?: typeof alterPage }]>([
    [
      'each transaction twice',
      'listed',
      { alterPage: (rows) => rows.flatMap((row) => [row, row]) },
    ],
    ['an early end', 'listed', { show: (rows) => rows.slice(0, rows.length / 2) }],
    ['nothing at all', 'listed', { show: () => [] }],
    ['a late beginning', 'failed', { show: (rows) => rows.slice(rows.length / 2) }],
    [
      'another order',
      'failed',
      { show: (rows) => [...rows.slice(0, 12), ...rows.slice(12).reverse()] },
    ],
    ['one page again and again', 'failed', { alterPage: onlyFirst() }],
  ])('%s', async (_what, result, fault) => {
    show = fault.show ?? show;
    alterPage = fault.alterPage ?? alterPage;
    await sync();
    await expectSynced(result);
  });
});

describe('the sync falls back to the ordinary list', () => {
  it('when a history page fails, and requests the history again next time', async () => {
    alterPage = (rows, page) => {
      if (page === 2) throw new Error('overloaded');
      return rows;
    };
    await sync();
    await expectSynced('failed');
    expect(pagesAsked).toBe(3);
    await sync();
    expect(pagesAsked).toBeGreaterThan(5);
  });

  it('when the node does not support the method, and never requests it again', async () => {
    alterPage = () => {
      throw new FatalError('Method not found');
    };
    await sync();
    await expectSynced('failed');
    await sync();
    expect(pagesAsked).toBe(1);
  });
});
