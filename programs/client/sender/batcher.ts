import type { PublicKey } from '@solana/web3.js';
import { withResolvers } from '../../../common/wait.ts';
import type { InstructionCost } from './costs.ts';
import type { Instructions, Sender, Sending } from './sender.ts';
import { LedgerUnavailableError, mayPass, type SendResult, WithdrawnError } from './sendResult.ts';
import type { Signer } from './signer.ts';
import { type Part, sum, TransactionTooLargeError } from './transaction.ts';

export type Batcher = ReturnType<typeof createBatcher>;

/** One job's part of a shared transaction. */
interface BatchItem {
  readonly instructions: Instructions;
  readonly signers: readonly Signer[];
  /** What each instruction takes. */
  readonly costs: readonly InstructionCost[];
  readonly key: string;
  /** Whether it is still to be sent: what was signed may land, even if it says no later. */
  readonly isWanted?: () => boolean;
  /** Called each time its transaction has gone out to a node. */
  readonly onSent?: () => void;
  /** Settles the promise of its `add`. */
  readonly end: { resolve(result: SendResult): void; reject(error: unknown): void };
}

interface Waiting {
  readonly item: BatchItem;
  readonly sinceMs: number;
  /** Made when a place is first looked for. */
  readonly part: (feePayer: PublicKey) => Part;
}

/** After it made a batch fail, a key's items are sent alone for so long. */
const APART_MS = 60_000;

const WAITING_MAX = 4_096;
/** So many of those that wait are looked through for the oldest one's companions. */
const LOOKED_THROUGH_MAX = 128;
/** Items wait for others of their kind until there are this many times what fits. */
const CROWD_FACTOR = 3;

/**
 * Puts instructions of several jobs into shared transactions while the ledger is busy.
 *
 * With nothing in flight an item is sent at once. Otherwise items wait until the flight ends, until
 * they fill a transaction, or until the oldest has waited for `lingerMs`.
 *
 * A transaction takes what fits, first what shares all keys but one with the oldest item: less room
 * is needed for those.
 *
 * @param options.idleLingerMs so long an item waits although nothing is in flight; 0 by default
 * @param options.itemsMax how many share a transaction, where that is less than what fits
 */
export function createBatcher(options: {
  sender: Sender;
  lingerMs: number;
  idleLingerMs?: number;
  itemsMax?: number;
  lane?: string;
}) {
  const { sender, lane = '', lingerMs, idleLingerMs = 0, itemsMax } = options;
  const apart = createApartKeys();
  let waiting: Waiting[] = [];
  let inFlight = 0;
  let timer: NodeJS.Timeout | undefined;

  const dueMs = ({ sinceMs }: Waiting): number =>
    sinceMs + (inFlight === 0 ? idleLingerMs : lingerMs);

  /** The oldest item with its companions; undefined while they wait. */
  function chooseDue(oldest: Waiting): readonly Waiting[] | undefined {
    const isLate = performance.now() >= dueMs(oldest);
    if (!isLate && waiting.length < (itemsMax ?? 2)) return undefined;
    const { chosen, isFull } = choose(oldest);
    return isLate || itemsMax !== undefined || isFull ? chosen : undefined;
  }

  /** The oldest item with those that may travel with it. */
  function choose(oldest: Waiting): { chosen: readonly Waiting[]; isFull: boolean } {
    if (apart.has(oldest.item)) return { chosen: [oldest], isFull: true };
    const room = sender.room();
    const oldestPart = oldest.part(room.feePayer);
    room.take(oldestPart);
    const chosen = [oldest];
    const near = waiting.slice(1, LOOKED_THROUGH_MAX).filter(({ item }) => !apart.has(item));
    const fill = (newKeysMax?: number): void => {
      for (const other of near) {
        if (chosen.length === itemsMax) return;
        if (!chosen.includes(other) && room.take(other.part(room.feePayer), newKeysMax)) {
          chosen.push(other);
        }
      }
    };
    fill(1);
    if (room.isFullFor(oldestPart)) return { chosen, isFull: true };
    fill();
    const isCrowded = waiting.length >= CROWD_FACTOR * chosen.length;
    return { chosen, isFull: isCrowded && room.isFullFor(oldestPart) };
  }

  function pump(): void {
    clearTimeout(timer);
    for (let [oldest] = waiting; oldest !== undefined; [oldest] = waiting) {
      const chosen = chooseDue(oldest);
      if (!chosen) {
        timer = setTimeout(pump, Math.max(0, dueMs(oldest) - performance.now()));
        return;
      }
      waiting = waiting.filter((other) => !chosen.includes(other));
      inFlight += 1;
      const items = chosen.map(({ item }) => item);
      void sendBatch(items, { ...options, onFault: apart.add }).then(() => {
        inFlight -= 1;
        pump();
      });
    }
  }

  return {
    /**
     * Sends an item, alone or with others. @returns how it ended
     *
     * @param item.key finds the item in `take`. After a failure, items of its key are sent alone
     * @param item.isWanted asked each time before it is signed
     * @throws LedgerUnavailableError as Sender does
     * @throws WithdrawnError when it is no longer wanted at its turn
     */
    async add(item: Omit<BatchItem, 'end'>): Promise<SendResult> {
      if (waiting.length >= WAITING_MAX) {
        throw new LedgerUnavailableError('Too many transactions wait to be sent', {
          signature: null,
        });
      }
      const end = withResolvers<SendResult>();
      waiting.push(createWaiting({ ...item, end }));
      // Items added in the same turn of the event loop share a transaction.
      queueMicrotask(pump);
      return end.promise;
    },
    /**
     * Removes an item that was not sent yet, so that the caller can carry its instructions in another
     * transaction. Its promise then stays pending.
     *
     * @returns whether there was one
     */
    take(key: string): boolean {
      const found = waiting.find(({ item }) => item.key === key);
      waiting = waiting.filter((other) => other !== found);
      return found !== undefined;
    },
    /** How long the first of its transactions that wait has waited for its turn; 0 when none does. */
    waitedMs: (): number => sender.waitedMs(lane),
    /** Gives up what was not sent. */
    close(): void {
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
 * - An item that is no longer wanted when the transaction is signed is left out.
 * - An item that makes the transaction fail ends with that result. The others are sent again, under
 *   a new signature: together where no node passed the transaction on, since they lost no time.
 *   Otherwise each goes alone, so that none waits for more than one fault of others.
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
  const again = result.signature === null ? [others] : others.map((item) => [item]);
  await Promise.all([
    ...again.map((part) => sendBatch(part, context)),
    endFault(fault, result, context),
  ]);
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
    onSent: () => {
      for (const item of travelled) item.onSent?.();
    },
    instructions: (feePayer) => {
      travelled = items.filter(isWanted);
      const parts = travelled.map((item) => ({ item, own: instructionsFor(item, feePayer) }));
      origins = parts.flatMap(({ item, own }) => own.map((_, position) => ({ item, position })));
      return parts.flatMap(({ own }) => own);
    },
    signers: items.flatMap((item) => item.signers),
    computeUnitLimit: sum(items.flatMap(({ costs }) => costs.map((cost) => cost.computeUnits))),
    ...(context.lane !== undefined && { lane: context.lane }),
  };
  const originOf = (index: number | null) => (index === null ? undefined : origins[index]);
  return { sending, travelled: () => travelled, originOf };
}

function isWanted(item: BatchItem): boolean {
  return item.isWanted?.() !== false;
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

/** Measured and signed are the same instructions: those for a fee payer are made once. */
function createWaiting(item: BatchItem): Waiting {
  let made: { feePayer: PublicKey; part: Part } | undefined;
  const part = (feePayer: PublicKey): Part => {
    if (!made?.feePayer.equals(feePayer)) {
      const instructions = instructionsFor(item, feePayer);
      made = { feePayer, part: { instructions, costs: item.costs } };
    }
    return made.part;
  };
  const instructions = (feePayer: PublicKey) => part(feePayer).instructions;
  return { item: { ...item, instructions }, sinceMs: performance.now(), part };
}
