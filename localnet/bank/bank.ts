import { base58 } from '@scure/base';
import { nameOfBytes } from '../../programs/client/platform/bytes.ts';
import type { DecodedTransaction } from '../../programs/client/wire/index.ts';
import type { Account, Runtime, Simulation } from '../runtime/runtime.ts';
import type { Timeline } from '../runtime/timeline.ts';
import type { Store } from '../store/store.ts';
import {
  type Block,
  type Commitment,
  createChain,
  type Lags,
  type LandedTransaction,
  recordChange,
} from './chain.ts';
import { type Change, executeTransaction, type Refused, writtenBy } from './execute.ts';
import { type BlockLimits, createBlockSpace } from './fees.ts';
import { LOOKUP_TABLE_PROGRAM, memoOf } from './meta.ts';
import type { Mood } from './mood.ts';
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

export type Bank = ReturnType<typeof createBank>;

const CLOCK = nameOfBytes(CLOCK_SYSVAR);
const SLOT_HASHES = nameOfBytes(SLOT_HASHES_SYSVAR);
const READS_SLOT_HASHES = new Set([SLOT_HASHES, nameOfBytes(LOOKUP_TABLE_PROGRAM)]);

/**
 * The ledger. It executes transactions in order, collects them in blocks, stores each block before it
 * announces it, and has every account as of each commitment.
 *
 * It is one node without forks. A block is confirmed when it is closed, or as its lag says.
 *
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
}) {
  const { runtime, store, timeline, blockhashes, lagsMs, limits, takesUnpaid, mood } = options;
  const { lastSlot } = store;
  const closesAtOnce = lagsMs.confirmed === 0;
  const chain = createChain({ timeline, mood, lagsMs, lastSlot, seal, onRoom });
  const { slot } = chain;
  /** Of transactions that are executed later. */
  const delays = new Set<NodeJS.Timeout>();
  let position = store.lastPosition;
  let clockKey = '';
  let space = limits && createBlockSpace(limits);
  /** Those that no block had room for yet, the first first. */
  let waiting: DecodedTransaction[] = [];

  /** On a full disk a block is rolled back, since it was not announced yet. */
  function seal({ slot, clockMs, changes, transactions }: Block): void {
    space = limits && createBlockSpace(limits);
    const accounts = [...changes.values()].map(({ address, after }) => [address, after] as const);
    try {
      store.append({ slot, clockMs, transactions, accounts });
    } catch (error) {
      for (const { address, before } of changes.values()) runtime.setAccount(address, before);
      position -= transactions.length;
      throw error;
    }
  }

  /** The next block takes first what the last ones had no room for. */
  function onRoom(): void {
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
      const execution = simulate(transaction, true);
      if (execution.err !== null) return { execution };
    }
    waiting.push(transaction);
    return { isWaiting: true };
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
    if (chain.find(base58.encode(signature)) || store.locate(signature)) {
      return refuse('AlreadyProcessed');
    }
    setClock(at);
    if (lookups.length > 0 || keys.some((key) => READS_SLOT_HASHES.has(nameOfBytes(key)))) {
      runtime.setAccount(SLOT_HASHES_SYSVAR, slotHashesSysvar(runtime, at - 1, blockhashes));
    }
    return undefined;
  }

  function land(transaction: DecodedTransaction, isPreflighted: boolean): Submission {
    // Time advances during the execution, so the slot is chosen before.
    const next = chain.nextSlot();
    const refused = prepare(transaction, next);
    if (refused) return refused;
    const signature = transaction.signatures[0] as Uint8Array;
    const executed = executeTransaction(runtime, transaction, { isPreflighted, takesUnpaid });
    if (!('meta' in executed)) return executed;
    const { execution, keys, changes, meta } = executed;
    const { logs, err } = execution;
    const block = chain.openBlock(next);
    space?.take(transaction, writtenBy(runtime, transaction), execution.computeUnits);
    position += 1;
    const landed: LandedTransaction = {
      position,
      signature,
      signatureText: base58.encode(signature),
      slot: block.slot,
      keys,
      meta,
      wire: transaction.wire,
      logs,
      err,
      error: err === null ? null : JSON.stringify(err),
      memo: memoOf(transaction),
    };
    chain.add(landed, changes, block);
    return landed;
  }

  /** An account as of a commitment. */
  function account(address: Uint8Array, commitment: Commitment): Account | null {
    const key = nameOfBytes(address);
    if (key === CLOCK) return clockSysvar(runtime, slot(commitment), timeline);
    if (key === SLOT_HASHES) return slotHashesSysvar(runtime, slot(commitment), blockhashes);
    const change = commitment === 'processed' ? undefined : changeAfter(commitment, key);
    return change ? change.before : runtime.account(address);
  }

  /** The first change of an account after a commitment; its `before` is the account as of that. */
  const changeAfter = (commitment: Commitment, key: string): Change | undefined =>
    chain
      .after(commitment)
      .find(({ changes }) => changes.has(key))
      ?.changes.get(key);

  /** Runs a transaction without any effect. */
  function simulate(transaction: DecodedTransaction, verifiesSignatures: boolean): Simulation {
    const refused = prepare(transaction, chain.nextSlot());
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
      const change = changeAfter('confirmed', nameOfBytes(address));
      return change ? [{ address, before: change.before, now: runtime.account(address) }] : [];
    });
    if (closesAtOnce || changed.length === 0) return false;
    for (const { address, before } of changed) runtime.setAccount(address, before);
    try {
      return simulate(transaction, true).err === null;
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
    simulate,
    recent: chain.find,
    onBlock: chain.onBlock,
    transactionCount: (): number => position,

    /** All accounts of a program as of a commitment, in no order. */
    accountsOf(programId: Uint8Array, commitment: Commitment): AccountEntry[] {
      const owner = nameOfBytes(programId);
      const found = new Map<string, AccountEntry>(
        runtime.accountsOf(programId).map((entry) => [nameOfBytes(entry[0]), entry]),
      );
      const later = commitment === 'processed' ? [] : chain.after(commitment);
      for (const [key, { address }] of later.flatMap(({ changes }) => [...changes])) {
        const then = account(address, commitment);
        if (then && nameOfBytes(then.owner) === owner) found.set(key, [address, then]);
        else found.delete(key);
      }
      return [...found.values()];
    },

    /**
     * Executes a transaction. If blocks are confirmed at once, resolves when its block is stored. One
     * that the open block has no room for waits for the next.
     *
     * @param isPreflighted whether a failed transaction has no effect
     * @throws StorageFullError when the block cannot be stored, and is rolled back
     */
    async submit(transaction: DecodedTransaction, isPreflighted: boolean): Promise<Submission> {
      if (!hasRoom(transaction)) return defer(transaction, isPreflighted);
      const submission = land(transaction, isPreflighted);
      if ('execution' in submission && isPreflighted && hadPassed(transaction)) {
        return land(transaction, false);
      }
      if ('position' in submission && closesAtOnce) await chain.stored();
      return submission;
    },

    /** Executes a transaction later, and does not say what came of it. */
    executeIn(delayMs: number, transaction: DecodedTransaction): void {
      const delay = setTimeout(() => {
        delays.delete(delay);
        landOrWait(transaction);
      }, delayMs);
      delays.add(delay);
    },

    /** Writes accounts without a transaction. @throws StorageFullError as `submit` does */
    async writeAccounts(accounts: Iterable<readonly [Uint8Array, Account | null]>): Promise<void> {
      const block = chain.openBlock(chain.nextSlot());
      for (const [address, after] of accounts) {
        const before = runtime.account(address);
        runtime.setAccount(address, after);
        recordChange(block, { address, before, after });
      }
      await chain.stored();
    },

    /** Advances the slots at once; what waits for one of them happens now. */
    skipSlots(slots: number): void {
      store.storeAnchor(timeline.skipSlots(slots));
      chain.closeWhenDue();
      chain.notify();
    },

    async close(): Promise<void> {
      for (const delay of delays) clearTimeout(delay);
      chain.close();
    },
  };
}

function refuse(err: string): Refused {
  const nothing = { logs: [], innerInstructions: [], computeUnits: 0, returnData: null };
  return { execution: { err, ...nothing } };
}
