import { base58 } from '@scure/base';
import { nameOfBytes } from '../../programs/client/platform/bytes.ts';
import type { DecodedTransaction } from '../../programs/client/wire/index.ts';
import type { Account, Runtime, Simulation } from '../runtime/runtime.ts';
import type { Timeline } from '../runtime/timeline.ts';
import type { Store } from '../store/store.ts';
import { type BlockLimits, createBlockSpace } from './blockSpace.ts';
import { executeTransaction, isExecuted, type Refused, writtenBy } from './execute.ts';
import { LOOKUP_TABLE_PROGRAM, memoOf } from './meta.ts';
import { type Mood, producedSlot } from './mood.ts';
import {
  type Block,
  type Commitment,
  createBlock,
  createRecentBlocks,
  type Lags,
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

/** The result of a submitted transaction: one that waits lands in a later block, or expires. */
type Submission = LandedTransaction | Refused | { readonly isWaiting: true };

type AccountEntry = readonly [address: Uint8Array, account: Account];

/**
 * The ledger. It executes transactions in order, collects them in blocks, stores each block before it
 * announces it, and has every account as of each commitment.
 *
 * It is one node without forks. A block is confirmed when it is closed, or as its lag says.
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
   * Executes a transaction. If blocks are confirmed at once, resolves when its block is stored. One
   * that the open block has no room for waits for the next.
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

/**
 * @param options.lagsMs confirmed by 0: a block is closed once the transactions of one turn are
 *   executed
 * @param options.limits what a block takes; none: everything
 * @param options.takesUnpaid whether a block may hold a transaction whose payer cannot pay
 */
export function createBank(options: {
  runtime: Runtime;
  store: Store;
  timeline: Timeline;
  blockhashes: Blockhashes;
  lagsMs: Lags;
  limits?: BlockLimits | undefined;
  takesUnpaid: boolean;
  mood: Mood;
}): Bank {
  const { runtime, store, timeline, blockhashes, lagsMs, limits, takesUnpaid, mood } = options;
  const closesAtOnce = lagsMs.confirmed === 0;
  const processedListeners = new Set<(block: Block) => void>();
  /** Of transactions that are executed later. */
  const delays = new Set<NodeJS.Timeout>();
  let open: OpenBlock | undefined;
  let closing: NodeJS.Timeout | undefined;
  let lastClosedSlot = store.lastSlot;
  let position = store.lastPosition;
  let clockKey = '';
  let space = limits && createBlockSpace(limits);
  /** Those that no block had room for yet, the first first. */
  let waiting: DecodedTransaction[] = [];

  const slot = (commitment: Commitment): number => producedSlot(mood, passedSlot(commitment));

  function passedSlot(commitment: Commitment): number {
    if (commitment === 'processed' && open) return open.slot;
    // No further transaction can enter this slot.
    const closed = open ? open.slot - 1 : Math.max(lastClosedSlot, timeline.slotNow() - 1);
    const lagMs = commitment === 'processed' ? 0 : lagsMs[commitment];
    return lagMs === 0 ? closed : Math.min(closed, timeline.slotNow(lagMs) - 1);
  }
  const announcedSlot = store.lastSlot;
  const recentBlocks = createRecentBlocks({ timeline, slot, lagsMs, announcedSlot });

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
      dueSlot: closesAtOnce ? next : next + 1,
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
    else {
      closeBlock(open);
      landWaiting();
    }
  }

  /** The next block takes first what the last ones had no room for. */
  function landWaiting(): void {
    const earlier = waiting;
    waiting = [];
    for (const transaction of earlier) landOrWait(transaction);
  }

  function landOrWait(transaction: DecodedTransaction): void {
    if (hasRoom(transaction)) land(transaction, false);
    else waiting.push(transaction);
  }

  const hasRoom = (transaction: DecodedTransaction): boolean =>
    space === undefined || space.fits(transaction, writtenBy(runtime, transaction));

  /** A node has passed it on by then, so that its preflight was a simulation. */
  function defer(transaction: DecodedTransaction, isPreflighted: boolean): Submission {
    if (isPreflighted) {
      const execution = simulate(transaction, { verifiesSignatures: true });
      if (execution.err !== null) return { execution };
    }
    waiting.push(transaction);
    return { isWaiting: true };
  }

  /** Stores the block. On a full disk it is rolled back, since it was not announced yet. */
  function closeBlock(block: OpenBlock): void {
    open = undefined;
    space = limits && createBlockSpace(limits);
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
    const executed = executeTransaction(runtime, transaction, { isPreflighted, takesUnpaid });
    if (!isExecuted(executed)) return executed;
    const { execution, keys, changes, meta } = executed;
    const block = openBlock(next);
    space?.take(transaction, writtenBy(runtime, transaction), execution.computeUnits);
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
    const change = commitment === 'processed' ? undefined : changeSince(commitment, key);
    return change ? change.before : runtime.account(address);
  }

  const changeSince = (commitment: Commitment, key: string) =>
    recentBlocks.changeAfter(slot(commitment), key) ?? open?.changes.get(key);

  function simulate(
    transaction: DecodedTransaction,
    { verifiesSignatures }: { verifiesSignatures: boolean },
  ): Simulation {
    const refused = prepare(transaction, nextSlot());
    if (refused) return { ...refused.execution, after: new Map() };
    const isLegacy = transaction.version === 'legacy';
    return runtime.simulate(transaction.wire, { isLegacy, verifiesSignatures });
  }

  /**
   * Whether a preflight lets a transaction pass that fails now: it sees what is confirmed. Where that
   * is the newest state, the execution was the preflight.
   */
  function hadPassed(transaction: DecodedTransaction): boolean {
    const changed = writtenBy(runtime, transaction).flatMap((address) => {
      const change = changeSince('confirmed', nameOfBytes(address));
      return change ? [{ address, before: change.before, now: runtime.account(address) }] : [];
    });
    if (closesAtOnce || changed.length === 0) return false;
    for (const { address, before } of changed) runtime.setAccount(address, before);
    try {
      return simulate(transaction, { verifiesSignatures: true }).err === null;
    } finally {
      for (const { address, now } of changed) runtime.setAccount(address, now);
    }
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
      if (!hasRoom(transaction)) return defer(transaction, isPreflighted);
      const submission = land(transaction, isPreflighted);
      if ('execution' in submission && isPreflighted && hadPassed(transaction)) {
        return land(transaction, false);
      }
      if ('position' in submission && closesAtOnce) await open?.stored.promise;
      return submission;
    },

    executeIn(delayMs, transaction) {
      const delay = setTimeout(() => {
        delays.delete(delay);
        landOrWait(transaction);
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

    simulate,

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
  const nothing = { logs: [], innerInstructions: [], computeUnits: 0, returnData: null };
  return { execution: { err, ...nothing } };
}
