import type {
  GetTransactionsForAddressConfigSignatures,
  GetTransactionsForAddressResultSignatures,
} from 'helius-sdk/types/types';
import type { Registry } from 'prom-client';
import type { Logger } from '../../common/logger.ts';
import { metricsOf } from '../../common/metricsOf.ts';
import type { LedgerNode } from '../../programs/client/rpc/rpc.ts';
import { FatalError, RetryableError } from './errors.ts';
import { listPages, OVERLAP_SLOTS } from './listPages.ts';
import type { LedgerSource, ListedTransaction, SlotRange } from './source.ts';

/** Ten minutes of 200 ms each. For less, a page or two of the ordinary list cost less. */
const HISTORY_SLOTS_MIN = 3_000n;
/** The most that Helius lists at once. */
const PAGE = 1_000;

interface Options {
  readonly source: LedgerSource;
  readonly node: LedgerNode;
  readonly programId: string;
  readonly logger: Logger;
  readonly registry: Registry;
}

/**
 * A source that lists long stretches oldest first, by `getTransactionsForAddress`, which only Helius
 * has. So the first transactions are applied before the rest is listed.
 *
 * It is a head start and no authority: it comes from another index than the ledger's own list. It may
 * end early, break off, or be missing from a node or a plan. The ordinary list continues where it
 * ended, and decides whether the node is out of reach.
 */
export function createHistorySource(
  options: Options,
): LedgerSource & Required<Pick<LedgerSource, 'listFinal'>> {
  const { source, logger, registry } = options;
  const histories = metricsOf(registry).counter(
    'svc_helius_histories_total',
    'Histories asked of Helius; after a failed one the ordinary list goes on',
    ['result'],
  );
  let isRefused = false;

  async function* listFinal(range: SlotRange): AsyncGenerator<readonly ListedTransaction[]> {
    let { slot } = range;
    if (!isRefused && range.slotMax - slot >= HISTORY_SLOTS_MIN) {
      try {
        for await (const page of listHistory(options, range)) {
          yield page;
          const last = page.at(-1);
          if (last) slot = last.slot - OVERLAP_SLOTS;
        }
        histories.inc({ result: 'listed' });
      } catch (error) {
        isRefused = error instanceof FatalError;
        histories.inc({ result: 'failed' });
        const reason = (error as Error).message;
        logger.warn({ msg: "Went on without Helius's history", reason, slot: String(slot) });
      }
    }
    yield* listPages(source, { ...range, commitment: 'finalized', slot });
  }

  return { ...source, listFinal };
}

/** @throws RetryableError when the history contradicts itself, or begins later than the ledger's list */
async function* listHistory(
  options: Options,
  range: SlotRange,
): AsyncGenerator<readonly ListedTransaction[]> {
  let token: string | null = null;
  let known: ReadonlySet<string> = new Set();
  let reached = range.slot;
  do {
    const { data, paginationToken } = await askPage(options, range, token);
    const listed = new Map(data.map((row) => [row.signature, readRow(row)]));
    const page = [...listed.values()].filter(({ signature }) => !known.has(signature));
    for (const { slot, signature } of page) {
      if (slot < reached) throw new RetryableError(`Helius listed ${signature} out of its order`);
      reached = slot;
    }
    if (page[0] && token === null) await checkBeginning(options, range, page[0]);
    // A node that answers every request with the same page would otherwise be asked without end.
    if (!page[0] && listed.size > 0) throw new RetryableError('Helius listed a page twice');
    yield page;
    known = new Set(listed.keys());
    token = listed.size > 0 ? paginationToken : null;
  } while (token !== null);
}

type Row = GetTransactionsForAddressResultSignatures['data'][number];

function readRow({ signature, slot, err }: Row): ListedTransaction {
  return { signature, slot: BigInt(slot), failed: err !== null };
}

async function askPage(
  { node, programId }: Options,
  { slot, slotMax }: SlotRange,
  paginationToken: string | null,
): Promise<GetTransactionsForAddressResultSignatures> {
  const config: GetTransactionsForAddressConfigSignatures = {
    commitment: 'finalized',
    // So no answer depends on a transaction's version.
    transactionDetails: 'signatures',
    sortOrder: 'asc',
    filters: { slot: { gte: Math.max(0, Number(slot)), lte: Number(slotMax) } },
    limit: PAGE,
    ...(paginationToken !== null && { paginationToken }),
  };
  return node.ask('getTransactionsForAddress', [programId, config], (result) => result as never);
}

/** Of devnet Helius keeps two weeks only, and shows what is left as if it were all. */
async function checkBeginning(
  { source }: Options,
  range: SlotRange,
  first: ListedTransaction,
): Promise<void> {
  const before = first.signature;
  const older = await source.list({
    commitment: 'finalized',
    before,
    limit: PAGE,
    nodeSlotMin: range.slotMax,
  });
  if (older.every(({ slot }) => slot >= first.slot || slot < range.slot)) return;
  throw new RetryableError(`Helius's history begins in slot ${first.slot}, the ledger's before`);
}
