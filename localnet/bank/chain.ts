import { nameOfBytes } from '../../programs/client/platform/bytes.ts';
import type { Timeline } from '../runtime/timeline.ts';
import type { TransactionError } from '../runtime/transactionError.ts';
import type { StoredTransaction } from '../store/schema.ts';
import type { Change } from './execute.ts';
import { type Mood, producedSlot } from './mood.ts';

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

function createBlock(slot: number, clockMs: number): Block {
  return { slot, clockMs, transactions: [], changes: new Map() };
}

/** Merges an account's change into the block's changes. */
export function recordChange(block: Block, change: Change): void {
  const key = nameOfBytes(change.address);
  const { before } = block.changes.get(key) ?? change;
  block.changes.set(key, { ...change, before });
}

/** A block that still takes transactions. */
interface OpenBlock extends Block {
  readonly stored: PromiseWithResolvers<void>;
  /** The block is closed when this slot begins. */
  readonly dueSlot: number;
}

type Listener = (block: Block) => void;

/**
 * The open block, and closed ones until they are final.
 *
 * @param options.lagsMs confirmed by 0: a block is closed once the work of one turn is done
 * @param options.lastSlot of the last stored block; blocks up to it are not announced
 * @param options.seal stores a closed block; what it throws rejects `stored` of the block
 * @param options.onRoom called where the next block may be opened
 */
export function createChain(options: {
  timeline: Timeline;
  mood: Mood;
  lagsMs: Lags;
  lastSlot: number;
  seal: (block: Block) => void;
  onRoom: () => void;
}) {
  const { timeline, mood, lagsMs, seal, onRoom } = options;
  const transactions = new Map<string, LandedTransaction>();
  const stages = BLOCK_COMMITMENTS.map((commitment) => ({
    commitment,
    announcedSlot: options.lastSlot,
    listeners: new Set<Listener>(),
  }));
  const processedListeners = new Set<Listener>();
  /** The open one is the last. */
  const blocks: Block[] = [];
  let open: OpenBlock | undefined;
  let lastClosedSlot = options.lastSlot;
  let closing: NodeJS.Timeout | undefined;
  let timer: NodeJS.Timeout | undefined;

  /** The newest slot of a commitment. From `confirmed` on, its content no longer changes. */
  function slot(commitment: Commitment): number {
    // No further transaction can enter this slot.
    const closed = open ? open.slot - 1 : Math.max(lastClosedSlot, timeline.slotNow() - 1);
    if (commitment === 'processed') return producedSlot(mood, open?.slot ?? closed);
    const lagMs = lagsMs[commitment];
    return producedSlot(mood, lagMs === 0 ? closed : Math.min(closed, timeline.slotNow(lagMs) - 1));
  }

  function closeWhenDue(): void {
    clearTimeout(closing);
    if (!open) return;
    const leftMs = timeline.msUntil(open.dueSlot);
    if (leftMs > 0) {
      closing = setTimeout(closeWhenDue, Math.ceil(leftMs));
      return;
    }
    closeOpen(open);
    onRoom();
  }

  function closeOpen(block: OpenBlock): void {
    open = undefined;
    try {
      seal(block);
    } catch (error) {
      drop(blocks.pop());
      block.stored.reject(error);
      return;
    }
    lastClosedSlot = block.slot;
    block.stored.resolve();
    notify();
  }

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
    const final = slot('finalized');
    while (blocks[0] && blocks[0].slot <= final) drop(blocks.shift());
    if (Number.isFinite(nextMs)) timer = setTimeout(notify, Math.ceil(nextMs)).unref();
  }

  function drop(block: Block | undefined): void {
    for (const { signatureText } of block?.transactions ?? []) transactions.delete(signatureText);
  }

  return {
    slot,
    closeWhenDue,
    notify,
    /** Resolves when the open block is stored. @throws StorageFullError when it cannot be */
    stored: async (): Promise<void> => open?.stored.promise,
    /** The slot of what is executed now. */
    nextSlot(): number {
      if (open) return open.slot;
      const next = Math.max(timeline.slotNow(), lastClosedSlot + 1);
      return mood.isSkipped(next) ? next + 1 : next;
    },
    /** The open block. @param next the slot of what was executed */
    openBlock(next: number): Block {
      if (open) return open;
      open = {
        ...createBlock(next, Math.floor(timeline.clockMs())),
        stored: Promise.withResolvers(),
        dueSlot: lagsMs.confirmed === 0 ? next : next + 1,
      };
      blocks.push(open);
      // A rejection without a waiting caller is not an unhandled one.
      open.stored.promise.catch(() => undefined);
      setImmediate(closeWhenDue);
      return open;
    },
    /** Adds a transaction to the open block, with the accounts that it changed. */
    add(landed: LandedTransaction, changes: readonly Change[], block: Block): void {
      const alone = createBlock(block.slot, block.clockMs);
      for (const { transactions } of [block, alone]) transactions.push(landed);
      for (const change of changes) {
        recordChange(block, change);
        recordChange(alone, change);
      }
      transactions.set(landed.signatureText, landed);
      for (const listener of processedListeners) listener(alone);
    },
    /** A transaction that is not final yet. @param signature in base58 */
    find: (signature: string) => transactions.get(signature),
    /** The blocks after a commitment, oldest first. */
    after(commitment: Commitment): readonly Block[] {
      const newest = slot(commitment);
      return blocks.filter((block) => block.slot > newest);
    },
    /** Calls the listener for blocks that reach a commitment, oldest first. @returns unsubscribes */
    onBlock(commitment: Commitment, listener: Listener): () => void {
      const stage = stages.find((one) => one.commitment === commitment);
      const listeners = stage?.listeners ?? processedListeners;
      listeners.add(listener);
      notify();
      return () => listeners.delete(listener);
    },
    /** Closes the open block; later notifications are dropped. */
    close(): void {
      clearTimeout(closing);
      if (open) closeOpen(open);
      clearTimeout(timer);
    },
  };
}
