import type { Timeline } from '../runtime/timeline.ts';
import type { TransactionError } from '../runtime/transactionError.ts';
import type { StoredTransaction } from '../store/schema.ts';
import type { Change } from './execute.ts';

/** What a block reaches after its end, one after the other. */
export const BLOCK_COMMITMENTS = ['confirmed', 'finalized'] as const;
export type BlockCommitment = (typeof BLOCK_COMMITMENTS)[number];

/** The commitment levels of a slot. */
export type Commitment = 'processed' | BlockCommitment;

/** After its end a block reaches a commitment so many milliseconds later. */
export type Lags = Readonly<Record<BlockCommitment, number>>;

/** A transaction in a block. */
export interface LandedTransaction extends StoredTransaction {
  /** In base58. */
  readonly signatureText: string;
  /** All its accounts. */
  readonly keys: readonly Uint8Array[];
  readonly logs: readonly string[];
  readonly err: TransactionError | null;
}

/** A block that is not final yet, with the accounts as they were before it. */
export interface Block {
  readonly slot: number;
  readonly clockMs: number;
  readonly transactions: LandedTransaction[];
  /** Each changed account before and after the block, by the key of its address. */
  readonly changes: Map<string, Change>;
}

export function createBlock(slot: number, clockMs: number): Block {
  return { slot, clockMs, transactions: [], changes: new Map() };
}

/** Merges an account's change into the block's changes. */
export function recordChange(block: Block, key: string, change: Change): void {
  const { before } = block.changes.get(key) ?? change;
  block.changes.set(key, { ...change, before });
}

type Listener = (block: Block) => void;

/**
 * Closed blocks until they are final.
 *
 * @param options.slot the newest slot of a commitment
 * @param options.announcedSlot blocks up to this slot are not announced
 */
export function createRecentBlocks(options: {
  timeline: Timeline;
  slot: (commitment: Commitment) => number;
  lagsMs: Lags;
  announcedSlot: number;
}) {
  const { timeline, slot, lagsMs, announcedSlot } = options;
  const transactions = new Map<string, LandedTransaction>();
  const stages = BLOCK_COMMITMENTS.map((commitment) => ({
    commitment,
    announcedSlot,
    listeners: new Set<Listener>(),
  }));
  const blocks: Block[] = [];
  let timer: NodeJS.Timeout | undefined;

  /** Calls the listeners for what has reached its commitment by now, and schedules the next call. */
  function notify(): void {
    clearTimeout(timer);
    let nextMs = Number.POSITIVE_INFINITY;
    for (const stage of stages) {
      const reached = slot(stage.commitment);
      for (const block of blocks) {
        if (block.slot <= stage.announcedSlot) continue;
        if (block.slot > reached) {
          if (stage.listeners.size === 0) break;
          // A slot is over when the next one begins.
          nextMs = Math.min(nextMs, timeline.msUntil(block.slot + 1, lagsMs[stage.commitment]));
          break;
        }
        stage.announcedSlot = block.slot;
        for (const listener of stage.listeners) listener(block);
      }
    }
    dropFinal();
    if (Number.isFinite(nextMs)) timer = setTimeout(notify, Math.ceil(nextMs)).unref();
  }

  function dropFinal(): void {
    const final = slot('finalized');
    while (blocks[0] && blocks[0].slot <= final) {
      for (const { signatureText } of blocks[0].transactions) transactions.delete(signatureText);
      blocks.shift();
    }
  }

  /** The blocks after a slot, oldest first. */
  const after = (newest: number): readonly Block[] => blocks.filter((block) => block.slot > newest);

  return {
    after,
    notify,
    add(block: Block): void {
      blocks.push(block);
      for (const transaction of block.transactions) {
        transactions.set(transaction.signatureText, transaction);
      }
      notify();
    },
    /** The first change of an account after a slot; its `before` is the account as of the slot. */
    changeAfter(newest: number, key: string): Change | undefined {
      for (const block of blocks) {
        const change = block.slot > newest ? block.changes.get(key) : undefined;
        if (change) return change;
      }
      return undefined;
    },
    find: (signature: string) => transactions.get(signature),
    /** Calls the listener for blocks that reach a commitment, oldest first. @returns unsubscribes */
    onBlock(commitment: BlockCommitment, listener: Listener): () => void {
      const stage = stages.find((one) => one.commitment === commitment);
      stage?.listeners.add(listener);
      notify();
      return () => stage?.listeners.delete(listener);
    },
    close: () => clearTimeout(timer),
  };
}
