import type { Timeline } from '../runtime/timeline.ts';
import type { TransactionError } from '../runtime/transactionError.ts';
import type { KeptTransaction } from '../store/schema.ts';
import type { Change } from './execute.ts';

/** How sure the ledger is of a slot. */
export type Commitment = 'processed' | 'confirmed' | 'finalized';

/** A block is final when so many slots have passed since, as on clusters. */
export const FINALITY_SLOTS = 32;

/** A transaction in a block. */
export interface LandedTransaction extends KeptTransaction {
  /** In base58. */
  readonly signatureText: string;
  /** All its accounts. */
  readonly keys: readonly Uint8Array[];
  readonly logs: readonly string[];
  readonly err: TransactionError | null;
}

/** A block of which something may still be asked as if it had not been. */
export interface Block {
  readonly slot: number;
  readonly clockMs: number;
  readonly transactions: LandedTransaction[];
  /** By key of the address: what each account was before the block, and what it is since. */
  readonly changes: Map<string, Change>;
}

export function createBlock(slot: number, clockMs: number): Block {
  return { slot, clockMs, transactions: [], changes: new Map() };
}

/** Adds an account's change to those that the block has made already. */
export function recordChange(block: Block, key: string, change: Change): void {
  const { before } = block.changes.get(key) ?? change;
  block.changes.set(key, { ...change, before });
}

type Listener = (block: Block) => void;

/** Blocks from the moment in which they are closed until they are final. */
interface RecentBlocks {
  add(block: Block): void;
  /** All that are newer than a slot, oldest first. */
  after(slot: number): readonly Block[];
  /** The first change of an account after a slot: it says what the account was there. */
  changeAfter(slot: number, key: string): Change | undefined;
  find(signature: string): LandedTransaction | undefined;
  /** Tells of blocks as they reach a commitment, oldest first. @returns ends it */
  onBlock(commitment: Exclude<Commitment, 'processed'>, listener: Listener): () => void;
  close(): void;
}

/**
 * @param options.slot the newest slot of a commitment
 * @param options.confirmSlots how many slots after its own a block is confirmed
 * @param options.announcedSlot blocks up to this slot are nobody's news
 */
export function createRecentBlocks(options: {
  timeline: Timeline;
  slot: (commitment: Commitment) => number;
  confirmSlots: number;
  announcedSlot: number;
}): RecentBlocks {
  const { timeline, slot, confirmSlots, announcedSlot } = options;
  const transactions = new Map<string, LandedTransaction>();
  const stages = [
    { commitment: 'confirmed', lag: confirmSlots, announcedSlot, listeners: new Set<Listener>() },
    {
      commitment: 'finalized',
      lag: Math.max(confirmSlots, FINALITY_SLOTS),
      announcedSlot,
      listeners: new Set<Listener>(),
    },
  ] as const;
  const blocks: Block[] = [];
  let timer: NodeJS.Timeout | undefined;

  /** Tells each commitment's listeners what has reached it, and comes back for what has not. */
  function tell(): void {
    clearTimeout(timer);
    let nextMs = Number.POSITIVE_INFINITY;
    for (const stage of stages) {
      const reached = slot(stage.commitment);
      for (const block of blocks) {
        if (block.slot <= stage.announcedSlot) continue;
        if (block.slot > reached) {
          if (stage.listeners.size === 0) break;
          // A slot is over when the next one begins.
          nextMs = Math.min(nextMs, timeline.msUntil(block.slot + stage.lag + 1));
          break;
        }
        (stage as { announcedSlot: number }).announcedSlot = block.slot;
        for (const listener of stage.listeners) listener(block);
      }
    }
    forgetFinal();
    if (Number.isFinite(nextMs)) timer = setTimeout(tell, Math.ceil(nextMs)).unref();
  }

  function forgetFinal(): void {
    const final = slot('finalized');
    while (blocks[0] && blocks[0].slot <= final) {
      for (const { signatureText } of blocks[0].transactions) transactions.delete(signatureText);
      blocks.shift();
    }
  }

  const after = (newest: number): readonly Block[] => blocks.filter((block) => block.slot > newest);

  return {
    after,
    add(block) {
      blocks.push(block);
      for (const transaction of block.transactions) {
        transactions.set(transaction.signatureText, transaction);
      }
      tell();
    },
    changeAfter(newest, key) {
      for (const block of blocks) {
        const change = block.slot > newest ? block.changes.get(key) : undefined;
        if (change) return change;
      }
      return undefined;
    },
    find: (signature) => transactions.get(signature),
    onBlock(commitment, listener) {
      const stage = stages.find((one) => one.commitment === commitment);
      stage?.listeners.add(listener);
      tell();
      return () => stage?.listeners.delete(listener);
    },
    close: () => clearTimeout(timer),
  };
}
