import { base58 } from '@scure/base';
import { nameOfBytes } from '../../programs/client/platform/bytes.ts';
import type { DecodedTransaction } from '../../programs/client/wire/index.ts';
import type { Account, Execution, Runtime, Simulation } from '../runtime/runtime.ts';
import type { Timeline } from '../runtime/timeline.ts';
import type { Store } from '../store/store.ts';
import { executeTransaction, isExecuted, type Refused } from './execute.ts';
import { LOOKUP_TABLE_PROGRAM, memoOf } from './meta.ts';
import { type Mood, producedSlot } from './mood.ts';
import {
  type Block,
  type Commitment,
  createBlock,
  createRecentBlocks,
  FINALITY_SLOTS,
  type LandedTransaction,
  recordChange,
} from './recentBlocks.ts';
import {
  type Blockhashes,
  CLOCK_SYSVAR,
  clockSysvar,
  SLOT_HASHES_SYSVAR,
  slotHashesSysvar,
} from './sysvars.ts';

/** The result of a submitted transaction. */
export type Submission = LandedTransaction | Refused;

type AccountEntry = readonly [address: Uint8Array, account: Account];

/**
 * The ledger. It executes transactions in order, collects them in blocks, stores each block before it
 * announces it, and has every account as of each commitment.
 *
 * It is one node without forks. A block is confirmed when it is closed, or `confirmSlots` slots later.
 * It is final 32 slots after its own.
 */
export interface Bank {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly timeline: Timeline;
  readonly blockhashes: Blockhashes;
  readonly mood: Mood;
  /** The newest slot of a commitment. From `confirmed` on, its content no longer changes. */
  slot(commitment: Commitment): number;
  /** An account as of a commitment. */
  account(address: Uint8Array, commitment: Commitment): Account | null;
  accountsOf(programId: Uint8Array, commitment: Commitment): AccountEntry[];
  /**
   * Executes a transaction. If blocks are confirmed at once, resolves when its block is stored.
   *
   * @param isPreflighted whether a failed transaction has no effect
   * @throws StorageFullError when the block cannot be stored, and is rolled back
   */
  submit(transaction: DecodedTransaction, isPreflighted: boolean): Promise<Submission>;
  /** Executes a transaction later, without telling what came of it. */
  executeIn(delayMs: number, transaction: DecodedTransaction): void;
  /** Writes accounts without a transaction. @throws StorageFullError as `submit` does */
  writeAccounts(accounts: Iterable<readonly [Uint8Array, Account | null]>): Promise<void>;
  /** Runs a transaction without any effect. */
  simulate(transaction: DecodedTransaction, options: { verifiesSignatures: boolean }): Simulation;
  /** A transaction that is not final yet. */
  recent(signature: string): LandedTransaction | undefined;
  /** Calls the listener for blocks that reach a commitment, oldest first. @returns unsubscribes */
  onBlock(commitment: Commitment, listener: (block: Block) => void): () => void;
  transactionCount(): number;
  /** Advances the slots at once; what waits for one of them happens now. */
  skipSlots(slots: number): void;
  /** Closes the open block. */
  close(): Promise<void>;
}

interface OpenBlock extends Block {
  readonly stored: PromiseWithResolvers<void>;
  /** The block is closed when this slot begins. */
  readonly dueSlot: number;
}

const CLOCK = nameOfBytes(CLOCK_SYSVAR);
const SLOT_HASHES = nameOfBytes(SLOT_HASHES_SYSVAR);
const READS_SLOT_HASHES = new Set([SLOT_HASHES, nameOfBytes(LOOKUP_TABLE_PROGRAM)]);

/** @param options.confirmSlots 0: a block is closed once the transactions of one turn are executed */
export function createBank(options: {
  runtime: Runtime;
  store: Store;
  timeline: Timeline;
  blockhashes: Blockhashes;
  confirmSlots: number;
  mood: Mood;
}): Bank {
  const { runtime, store, timeline, blockhashes, confirmSlots, mood } = options;
  const lags = { confirmed: confirmSlots, finalized: Math.max(confirmSlots, FINALITY_SLOTS) };
  const processedListeners = new Set<(block: Block) => void>();
  /** Of transactions that are executed later. */
  const delays = new Set<NodeJS.Timeout>();
  let open: OpenBlock | undefined;
  let closing: NodeJS.Timeout | undefined;
  let lastClosedSlot = store.lastSlot;
  let position = store.lastPosition;
  let clockKey = '';

  const slot = (commitment: Commitment): number => producedSlot(mood, passedSlot(commitment));

  function passedSlot(commitment: Commitment): number {
    if (commitment === 'processed' && open) return open.slot;
    // No further transaction can enter this slot.
    const closed = open ? open.slot - 1 : Math.max(lastClosedSlot, timeline.slotNow() - 1);
    return commitment === 'processed' ? closed : closed - lags[commitment];
  }
  const announcedSlot = store.lastSlot;
  const recentBlocks = createRecentBlocks({ timeline, slot, confirmSlots, announcedSlot });

  function nextSlot(): number {
    if (open) return open.slot;
    const next = Math.max(timeline.slotNow(), lastClosedSlot + 1);
    return mood.isSkipped(next) ? next + 1 : next;
  }

  /** @param next the slot in which a transaction was executed */
  function openBlock(next: number): OpenBlock {
    if (open) return open;
    open = {
      ...createBlock(next, Math.floor(timeline.clockMs())),
      stored: Promise.withResolvers(),
      dueSlot: confirmSlots === 0 ? next : next + 1,
    };
    // A rejection without a waiting caller is not an unhandled one.
    open.stored.promise.catch(() => undefined);
    setImmediate(closeWhenDue);
    return open;
  }

  function closeWhenDue(): void {
    clearTimeout(closing);
    if (!open) return;
    const leftMs = timeline.msUntil(open.dueSlot);
    if (leftMs > 0) closing = setTimeout(closeWhenDue, Math.ceil(leftMs));
    else closeBlock(open);
  }

  /** Stores the block. On a full disk it is rolled back, since it was not announced yet. */
  function closeBlock(block: OpenBlock): void {
    open = undefined;
    const { changes, transactions } = block;
    try {
      store.append({
        slot: block.slot,
        clockMs: block.clockMs,
        transactions,
        accounts: [...changes.values()].map(({ address, after }) => [address, after] as const),
      });
    } catch (error) {
      for (const { address, before } of changes.values()) runtime.setAccount(address, before);
      position -= transactions.length;
      block.stored.reject(error);
      return;
    }
    lastClosedSlot = block.slot;
    block.stored.resolve();
    recentBlocks.add(block);
  }

  function setClock(at: number): void {
    const unixSeconds = Math.floor(timeline.clockMs() / 1_000);
    const key = `${at} ${unixSeconds}`;
    if (key === clockKey) return;
    clockKey = key;
    runtime.setClock({ slot: BigInt(at), unixSeconds: BigInt(unixSeconds) });
  }

  /** @returns why the transaction cannot be executed in this slot */
  function prepare(transaction: DecodedTransaction, at: number): Refused | undefined {
    const { recentBlockhash, keys, lookups, signatures } = transaction;
    if (blockhashes.slotOf(recentBlockhash, at) === undefined) return refuse('BlockhashNotFound');
    const signature = signatures[0] as Uint8Array;
    if (recent(base58.encode(signature)) || store.locate(signature)) {
      return refuse('AlreadyProcessed');
    }
    setClock(at);
    if (lookups.length > 0 || keys.some((key) => READS_SLOT_HASHES.has(nameOfBytes(key)))) {
      runtime.setAccount(SLOT_HASHES_SYSVAR, slotHashesSysvar(runtime, at - 1, blockhashes));
    }
    return undefined;
  }

  const recent = (signature: string): LandedTransaction | undefined =>
    open?.transactions.find(({ signatureText }) => signatureText === signature) ??
    recentBlocks.find(signature);

  function land(transaction: DecodedTransaction, isPreflighted: boolean): Submission {
    // Time advances during the execution, so the slot is chosen before.
    const next = nextSlot();
    const refused = prepare(transaction, next);
    if (refused) return refused;
    const signature = transaction.signatures[0] as Uint8Array;
    const signatureText = base58.encode(signature);
    const executed = executeTransaction(runtime, transaction, isPreflighted);
    if (!isExecuted(executed)) return executed;
    const { execution, keys, changes, meta } = executed;
    const block = openBlock(next);
    position += 1;
    const landed: LandedTransaction = {
      position,
      signature,
      signatureText,
      slot: block.slot,
      keys,
      meta,
      wire: transaction.wire,
      logs: execution.logs,
      err: execution.err,
      error: execution.err === null ? null : JSON.stringify(execution.err),
      memo: memoOf(transaction),
    };
    block.transactions.push(landed);
    const processed = createBlock(block.slot, block.clockMs);
    processed.transactions.push(landed);
    for (const change of changes) {
      recordChange(block, nameOfBytes(change.address), change);
      recordChange(processed, nameOfBytes(change.address), change);
    }
    for (const listener of processedListeners) listener(processed);
    return landed;
  }

  function account(address: Uint8Array, commitment: Commitment): Account | null {
    const key = nameOfBytes(address);
    if (key === CLOCK) return clockSysvar(runtime, slot(commitment), timeline);
    if (key === SLOT_HASHES) return slotHashesSysvar(runtime, slot(commitment), blockhashes);
    if (commitment === 'processed') return runtime.account(address);
    const change = recentBlocks.changeAfter(slot(commitment), key) ?? open?.changes.get(key);
    return change ? change.before : runtime.account(address);
  }

  return {
    runtime,
    store,
    timeline,
    blockhashes,
    mood,
    slot,
    account,
    recent,

    accountsOf(programId, commitment) {
      const owner = nameOfBytes(programId);
      const found = new Map<string, AccountEntry>(
        runtime.accountsOf(programId).map((entry) => [nameOfBytes(entry[0]), entry]),
      );
      if (commitment === 'processed') return [...found.values()];
      for (const block of [...recentBlocks.after(slot(commitment)), ...(open ? [open] : [])]) {
        for (const [key, { address }] of block.changes) {
          const then = account(address, commitment);
          if (then && nameOfBytes(then.owner) === owner) found.set(key, [address, then]);
          else found.delete(key);
        }
      }
      return [...found.values()];
    },

    async submit(transaction, isPreflighted) {
      const submission = land(transaction, isPreflighted);
      if ('position' in submission && confirmSlots === 0) await open?.stored.promise;
      return submission;
    },

    executeIn(delayMs, transaction) {
      const delay = setTimeout(() => {
        delays.delete(delay);
        land(transaction, false);
      }, delayMs);
      delays.add(delay);
    },

    async writeAccounts(accounts) {
      const block = openBlock(nextSlot());
      for (const [address, after] of accounts) {
        const before = runtime.account(address);
        runtime.setAccount(address, after);
        recordChange(block, nameOfBytes(address), { address, before, after });
      }
      await block.stored.promise;
    },

    simulate(transaction, { verifiesSignatures }) {
      const refused = prepare(transaction, nextSlot());
      if (refused) return { ...refused.execution, after: new Map() };
      const isLegacy = transaction.version === 'legacy';
      return runtime.simulate(transaction.wire, { isLegacy, verifiesSignatures });
    },

    onBlock(commitment, listener) {
      if (commitment !== 'processed') return recentBlocks.onBlock(commitment, listener);
      processedListeners.add(listener);
      return () => processedListeners.delete(listener);
    },

    transactionCount: () => position,

    skipSlots(slots) {
      store.storeAnchor(timeline.skipSlots(slots));
      closeWhenDue();
      recentBlocks.notify();
    },

    async close() {
      clearTimeout(closing);
      for (const delay of delays) clearTimeout(delay);
      // Later notifications are dropped.
      if (open) closeBlock(open);
      recentBlocks.close();
    },
  };
}

function refuse(err: string): Refused {
  const execution: Execution = {
    err,
    logs: [],
    innerInstructions: [],
    computeUnits: 0,
    returnData: null,
  };
  return { execution };
}
