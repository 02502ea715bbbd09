import type { PublicKey } from '@solana/web3.js';
import { withResolvers } from '../../../common/wait.ts';
import type { Instructions, Sender, Sending } from './sender.ts';
import { LedgerUnavailableError, mayPass, type SendResult, WithdrawnError } from './sendResult.ts';
import type { Signer } from './signer.ts';
import { TransactionTooLargeError } from './transaction.ts';

/** Puts instructions of several jobs into shared transactions while the ledger is busy. */
export interface Batcher {
  /**
   * Sends an item, alone or with others. @returns how it ended
   *
   * @param item.key finds the item in `take`. After a failure, items of its key are sent alone
   * @param item.signal withdraws it as long as it is not signed
   * @throws LedgerUnavailableError as Sender does
   * @throws WithdrawnError when it was withdrawn in time
   */
  add(item: Omit<BatchItem, 'end'>): Promise<SendResult>;
  /**
   * Removes an item that was not sent yet, so that the caller can carry its instructions in another
   * transaction. Its promise then stays pending.
   *
   * @returns whether there was one
   */
  take(key: string): boolean;
  /** How long the first of its transactions that wait has waited for its turn; 0 when none does. */
  waitedMs(): number;
  /** Gives up what was not sent. */
  close(): void;
}

/** One job's part of a shared transaction. */
interface BatchItem {
  readonly instructions: Instructions;
  readonly signers: readonly Signer[];
  readonly key: string;
  /** Withdraws the item while it is not signed; afterwards it makes no difference. */
  readonly signal?: AbortSignal;
  /** Settles the promise of its `add`. */
  readonly end: {
    resolve(result: SendResult): void;
    reject(error: unknown): void;
  };
}

interface Waiting {
  readonly item: BatchItem;
  readonly lingersUntilMs: number;
}

/** After it made a batch fail, a key's items are sent alone for so long. */
const APART_MS = 60_000;

const WAITING_MAX = 4_096;

/**
 * With nothing in flight an item is sent at once. Otherwise items wait until the flight ends, until
 * there are `maxInstructions`, or until the oldest has waited for `lingerMs`.
 *
 * @param options.maxInstructions how many items, usually of one instruction, share a transaction
 * @param options.computeUnitLimitEach what one item may use
 * @param options.sendsWhenIdle false: items always linger, so that they can still be taken
 */
export function createBatcher(options: {
  sender: Sender;
  maxInstructions: number;
  lingerMs: number;
  computeUnitLimitEach: number;
  sendsWhenIdle?: boolean;
  lane?: string;
}): Batcher {
  const { sender, lane = '', maxInstructions, lingerMs, sendsWhenIdle = true } = options;
  const apart = createApartKeys();
  let waiting: Waiting[] = [];
  let inFlight = 0;
  let timer: NodeJS.Timeout | undefined;

  function isDue(oldest: Waiting): boolean {
    if (waiting.length >= maxInstructions || (sendsWhenIdle && inFlight === 0)) return true;
    return performance.now() >= oldest.lingersUntilMs;
  }

  /** Removes the oldest item and those that may travel with it. */
  function next(oldest: Waiting): BatchItem[] {
    const chosen = apart.has(oldest.item)
      ? [oldest]
      : waiting.filter(({ item }) => !apart.has(item)).slice(0, maxInstructions);
    waiting = waiting.filter((other) => !chosen.includes(other));
    return chosen.map(({ item }) => item);
  }

  function pump(): void {
    clearTimeout(timer);
    for (let [oldest] = waiting; oldest !== undefined; [oldest] = waiting) {
      if (!isDue(oldest)) {
        timer = setTimeout(pump, Math.max(0, oldest.lingersUntilMs - performance.now()));
        return;
      }
      inFlight += 1;
      void sendBatch(next(oldest), { ...options, onFault: apart.add }).then(() => {
        inFlight -= 1;
        pump();
      });
    }
  }

  return {
    async add(item) {
      if (waiting.length >= WAITING_MAX) {
        throw new LedgerUnavailableError('Too many transactions wait to be sent', {
          signature: null,
        });
      }
      const end = withResolvers<SendResult>();
      waiting.push({
        item: { ...item, end },
        lingersUntilMs: performance.now() + lingerMs,
      });
      // Items added in the same turn of the event loop share a transaction.
      queueMicrotask(pump);
      return end.promise;
    },
    take(key) {
      const found = waiting.find(({ item }) => item.key === key);
      waiting = waiting.filter((other) => other !== found);
      return found !== undefined;
    },
    waitedMs: () => sender.waitedMs(lane),
    close() {
      clearTimeout(timer);
      const error = new LedgerUnavailableError('The sender was closed', { signature: null });
      for (const { item } of waiting) item.end.reject(error);
      waiting = [];
    },
  };
}

/** The keys whose items are sent alone for now. */
function createApartKeys() {
  const untilMs = new Map<string, number>();
  return {
    add({ key }: BatchItem): void {
      const now = performance.now();
      for (const [other, endMs] of untilMs) if (endMs <= now) untilMs.delete(other);
      untilMs.set(key, now + APART_MS);
    },
    has: ({ key }: BatchItem): boolean => (untilMs.get(key) ?? 0) > performance.now(),
  };
}

interface BatchContext {
  readonly sender: Sender;
  readonly computeUnitLimitEach: number;
  readonly lane?: string;
  /** Called with each item that made a transaction with others fail. */
  readonly onFault: (item: BatchItem) => void;
}

/** The item whose instruction was refused, and that instruction's position among the item's. */
interface Fault {
  readonly item: BatchItem;
  readonly position: number;
}

/**
 * Sends items in one transaction and ends each of them.
 *
 * - An item that was withdrawn before the transaction is signed is left out.
 * - An item that makes the transaction fail ends with that result. The others are sent again, under
 *   a new signature.
 * - A batch too large for one transaction goes as two. So does one that is refused as a whole: an
 *   account of one item may be at fault, such as one with too much data.
 *
 * Never throws: errors go to the items.
 *
 * @param isSuspect whether the items were part of a batch that was refused as a whole
 */
async function sendBatch(
  items: readonly BatchItem[],
  context: BatchContext,
  isSuspect = false,
): Promise<void> {
  const { sending, travelled: known, originOf } = share(items, context);
  let result: SendResult;
  try {
    result = await context.sender.send(sending);
  } catch (error) {
    if (error instanceof TransactionTooLargeError && items.length > 1) {
      await sendHalves(items, context, isSuspect);
    } else {
      for (const item of items) item.end.reject(error);
    }
    return;
  }
  const travelled = known();
  for (const { end } of items.filter((item) => !travelled.includes(item))) {
    end.reject(new WithdrawnError('Cancelled before it was signed'));
  }
  const [first, ...more] = travelled;
  if (first && more.length > 0 && isRefusedAsAWhole(result)) {
    await sendHalves(travelled, context, true);
    return;
  }
  const fault = result.status === 'failed' ? originOf(result.error.instructionIndex) : undefined;
  if (fault === undefined || more.length === 0) {
    if (first && isSuspect && isRefusedAsAWhole(result)) context.onFault(first);
    for (const item of travelled) item.end.resolve(result);
    return;
  }
  context.onFault(fault.item);
  const others = travelled.filter((item) => item !== fault.item);
  await Promise.all([sendBatch(others, context), endFault(fault, result, context)]);
}

async function sendHalves(
  items: readonly BatchItem[],
  context: BatchContext,
  isSuspect: boolean,
): Promise<void> {
  const half = Math.ceil(items.length / 2);
  const halves = [items.slice(0, half), items.slice(half)];
  await Promise.all(halves.map((part) => sendBatch(part, context, isSuspect)));
}

/** Refused for no single instruction, and for a reason that will not pass by itself. */
function isRefusedAsAWhole(result: SendResult): boolean {
  if (result.status !== 'failed' || result.error.instructionIndex !== null) return false;
  return !mayPass(result.error);
}

/**
 * Items as one transaction. Which of them travel, and where each instruction comes from, is known
 * once it is signed.
 */
function share(items: readonly BatchItem[], context: BatchContext) {
  let origins: Fault[] = [];
  let travelled: readonly BatchItem[] = [];
  const sending: Sending = {
    isWanted: () => items.some(isWanted),
    instructions: (feePayer) => {
      travelled = items.filter(isWanted);
      const parts = travelled.map((item) => ({ item, own: instructionsFor(item, feePayer) }));
      origins = parts.flatMap(({ item, own }) => own.map((_, position) => ({ item, position })));
      return parts.flatMap(({ own }) => own);
    },
    signers: items.flatMap((item) => item.signers),
    computeUnitLimit: items.length * context.computeUnitLimitEach,
    ...(context.lane !== undefined && { lane: context.lane }),
  };
  const originOf = (index: number | null) => (index === null ? undefined : origins[index]);
  return { sending, travelled: () => travelled, originOf };
}

function isWanted({ signal }: BatchItem): boolean {
  return signal?.aborted !== true;
}

/** Our program's refusal is the item's own. Any other may be an earlier item's: it goes again, alone. */
async function endFault({ item, position }: Fault, result: SendResult, context: BatchContext) {
  if (result.status !== 'failed' || result.error.code === null) {
    await sendBatch([item], context);
    return;
  }
  item.end.resolve({ ...result, error: { ...result.error, instructionIndex: position } });
}

function instructionsFor({ instructions }: BatchItem, feePayer: PublicKey) {
  return typeof instructions === 'function' ? instructions(feePayer) : instructions;
}
