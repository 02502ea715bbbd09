import type { Keypair, PublicKey } from '@solana/web3.js';
import { mayPass, type Outcome, WithdrawnError } from './outcome.ts';
import type { Instructions, Sender } from './sender.ts';
import { TransactionTooLargeError } from './signedTransaction.ts';

/** One job's part of a shared transaction. */
export interface BatchItem {
  readonly instructions: Instructions;
  readonly signers: readonly Keypair[];
  readonly key: string;
  /** Withdraws the item while it is not signed; afterwards it makes no difference. */
  readonly signal?: AbortSignal;
  /** Tells whoever added it. */
  readonly end: {
    resolve(outcome: Outcome): void;
    reject(error: unknown): void;
  };
}

interface BatchContext {
  readonly sender: Sender;
  readonly computeUnitLimitEach: number;
  readonly lane?: string;
  /** Told of each item that made a transaction with others fail. */
  readonly onFault: (item: BatchItem) => void;
}

/** The item whose instruction was refused, and that instruction's position among the item's. */
interface Fault {
  readonly item: BatchItem;
  readonly position: number;
}

/**
 * Sends items in one transaction and ends each of them. An item that was withdrawn before the
 * transaction is signed is left out and ends with WithdrawnError. An item that makes the transaction fail is
 * dropped with its own outcome, and the others are sent again under a new signature; a batch too
 * large for one transaction goes as two, and so does one that is refused as a whole: an account of
 * one item may be at fault, such as one with more data than a transaction may load. Never throws:
 * errors go to the items.
 *
 * @param isSuspect whether the items were part of a batch that was refused as a whole
 */
export async function sendBatch(
  items: readonly BatchItem[],
  context: BatchContext,
  isSuspect = false,
): Promise<void> {
  let sent: Awaited<ReturnType<typeof sendTogether>>;
  try {
    sent = await sendTogether(items, context);
  } catch (error) {
    if (error instanceof TransactionTooLargeError && items.length > 1) {
      await sendHalves(items, context, isSuspect);
    } else {
      for (const item of items) item.end.reject(error);
    }
    return;
  }
  const { outcome, fault, travelled } = sent;
  for (const item of items) {
    if (!travelled.includes(item)) item.end.reject(new WithdrawnError('Nobody waits for it'));
  }
  const [first, ...more] = travelled;
  if (first && more.length > 0 && isRefusedAsAWhole(outcome)) {
    await sendHalves(travelled, context, true);
    return;
  }
  if (fault === undefined || more.length === 0) {
    if (first && isSuspect && isRefusedAsAWhole(outcome)) context.onFault(first);
    for (const item of travelled) item.end.resolve(outcome);
    return;
  }
  context.onFault(fault.item);
  const others = travelled.filter((item) => item !== fault.item);
  await Promise.all([sendBatch(others, context), endFault(fault, outcome, context)]);
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

/** For no instruction of its own, and not for what has nothing to do with its items either. */
function isRefusedAsAWhole(outcome: Outcome): boolean {
  if (outcome.status !== 'rejected' || outcome.error.instructionIndex !== null) return false;
  return !mayPass(outcome.error);
}

async function sendTogether(items: readonly BatchItem[], context: BatchContext) {
  /** For each instruction of the transaction, where it comes from. */
  let origins: Fault[] = [];
  let travelled: readonly BatchItem[] = [];
  const outcome = await context.sender.send({
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
  });
  const index = outcome.status === 'rejected' ? outcome.error.instructionIndex : null;
  return { outcome, travelled, fault: index === null ? undefined : origins[index] };
}

function isWanted({ signal }: BatchItem): boolean {
  return signal?.aborted !== true;
}

/** Its refusal by our program is its own; for anything else an earlier item may be to blame. */
async function endFault({ item, position }: Fault, outcome: Outcome, context: BatchContext) {
  if (outcome.status !== 'rejected' || outcome.error.code === null) {
    await sendBatch([item], context);
    return;
  }
  item.end.resolve({ ...outcome, error: { ...outcome.error, instructionIndex: position } });
}

function instructionsFor({ instructions }: BatchItem, feePayer: PublicKey) {
  return typeof instructions === 'function' ? instructions(feePayer) : instructions;
}
