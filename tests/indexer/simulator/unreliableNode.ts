import type { Commitment } from '../../../common/net/commitment.ts';
import { RetryableError } from '../../../indexer/source/errors.ts';
import type { LedgerSource, ListedTransaction } from '../../../indexer/source/source.ts';
import type { Chance } from './chance.ts';
import type { FaultRates } from './faultRates.ts';
import { type Landed, show } from './ledger/landed.ts';
import type { SimulatedLedger } from './ledger/simulatedLedger.ts';
import type { SimulatedClock } from './simulatedClock.ts';

/** As in `source/node.ts`. */
const TIMEOUT_MS = 10_000;
const SLOW_MS_MAX = 4_000;
/** What the mirror reads again on every sweep must cover how far nodes are behind each other. */
const LATE_SLOTS_MAX = 30;
const SHORT_PAGE_MAX = 20;
/** Three minutes: more than after which a transaction is taken for lost. */
const STRANDED_SLOTS_MAX = 450;

/**
 * A provider's address, behind which every question is answered by another node. One is behind, one
 * lists a slot in another order, one has lost rows.
 *
 * @param options.strandings draws what `chance` does not, whose sequence older seeds rest on
 * @param options.hidden transactions that no node lists among the program's
 * @param options.isFollowed whether something will follow that shows when a transaction is missing:
 *   no reader can miss what was never listed and nothing follows
 */
export function createUnreliableNode(options: {
  ledger: SimulatedLedger;
  chance: Chance;
  strandings: Chance;
  clock: SimulatedClock;
  rates: () => FaultRates;
  hidden: ReadonlySet<Landed>;
  isFollowed: (landed: Landed) => boolean;
}): LedgerSource {
  const { ledger, chance, strandings, clock, rates, hidden, isFollowed } = options;
  let wasEmptied = false;

  async function answer<Result>(question: () => Result): Promise<Result> {
    if (chance.happens(rates().timeouts)) {
      await clock.delay(TIMEOUT_MS);
      throw new RetryableError('The node did not answer');
    }
    if (chance.happens(rates().refusals)) throw new RetryableError('The node is overloaded');
    const known = question();
    if (chance.happens(rates().slowAnswers)) await clock.delay(chance.below(SLOW_MS_MAX));
    return clock.during(async () => known);
  }

  /** The newest slot that the node at hand knows. */
  function newestKnown(commitment: Commitment): bigint {
    const newest = commitment === 'finalized' ? ledger.finalizedSlot : ledger.slot;
    const late = chance.happens(rates().lateNodes) ? BigInt(chance.below(LATE_SLOTS_MAX)) : 0n;
    return newest > late ? newest - late : 0n;
  }

  /** @throws RetryableError when the node at hand has not reached that slot */
  function reached(slot: bigint, slotMin: bigint): void {
    if (slot < slotMin) throw new RetryableError(`The node is at slot ${slot}, behind ${slotMin}`);
  }

  function strandedSlots(): bigint {
    const isStranded = strandings.happens(rates().strandedNodes);
    return isStranded ? BigInt(strandings.below(STRANDED_SLOTS_MAX)) : 0n;
  }

  /** Not twice in a row: an empty mirror cannot distinguish it from the beginning. */
  function isEmptied(): boolean {
    wasEmptied = !wasEmptied && strandings.happens(rates().emptyPages);
    return wasEmptied;
  }

  function isListed(landed: Landed, address: string | undefined): boolean {
    if (address !== undefined) return landed.accounts.has(address);
    if (hidden.has(landed)) return false;
    return !(isFollowed(landed) && chance.happens(rates().missingRows));
  }

  return {
    list: ({ commitment, address, before, limit, nodeSlotMin = 0n }) =>
      answer((): ListedTransaction[] => {
        const slotMax = newestKnown(commitment) - strandedSlots();
        reached(slotMax, nodeSlotMin);
        const known = ledger.transactions.filter(({ slot }) => slot <= slotMax);
        const ordered = chance.happens(rates().reorderedSlots) ? chance.shuffle(known) : known;
        // Sorting is stable: within a slot the order stays.
        const newestFirst = ordered.toReversed().sort((a, b) => Number(b.slot - a.slot));
        const position = newestFirst.findIndex(({ signature }) => signature === before);
        // A node that does not know `before` lists nothing.
        if (before !== undefined && position < 0) return [];
        const rows = newestFirst.slice(position + 1).filter((row) => isListed(row, address));
        if (isEmptied()) return [];
        const isShort = chance.happens(rates().shortPages);
        return rows
          .slice(0, isShort ? Math.min(limit, 1 + chance.below(SHORT_PAGE_MAX)) : limit)
          .map(({ signature, slot, failed }) => ({ signature, slot, failed }));
      }),
    read: ({ signature, slot }) =>
      answer(() => {
        const landed = ledger.find(signature);
        if (landed?.slot !== slot) throw new RetryableError(`The ledger lacks ${signature}`);
        return show(landed);
      }),
    slot: (commitment) => answer(() => newestKnown(commitment)),
    genesisHash: () => answer(() => 'simulated'),
    locate: (signatures, nodeSlotMin) =>
      answer(() => {
        const slotMax = ledger.slot - strandedSlots();
        reached(slotMax, nodeSlotMin);
        const found = signatures.flatMap((signature) => ledger.find(signature) ?? []);
        const succeeded = found.filter(({ failed, slot }) => !failed && slot <= slotMax);
        return new Map(succeeded.map(({ signature, slot }) => [signature, slot]));
      }),
  };
}
