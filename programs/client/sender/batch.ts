import type { Keypair, PublicKey } from '@solana/web3.js';
import type { Outcome } from './outcome.ts';
import type { Instructions, Sender } from './sender.ts';
import { TransactionTooLargeError } from './signedTransaction.ts';

/** One job's part of a shared transaction. */
export interface BatchItem {
  readonly instructions: Instructions;
  readonly signers: readonly Keypair[];
  readonly key: string;
  readonly end: PromiseWithResolvers<Outcome>;
}

interface BatchContext {
  readonly sender: Sender;
  readonly computeUnitLimitEach: number;
  /** Told of each item that made a transaction with others fail. */
  readonly onFault: (item: BatchItem) => void;
}

/**
 * Sends items in one transaction and ends each of them. An item that makes the transaction fail is
 * dropped with its own outcome, and the others are sent again under a new signature; a batch too
 * large for one transaction goes as two.
 */
export async function sendBatch(items: readonly BatchItem[], context: BatchContext): Promise<void> {
  const { sender, computeUnitLimitEach, onFault } = context;
  /** For each instruction of the transaction, the item it belongs to and its position there. */
  let origins: { item: BatchItem; position: number }[] = [];
  const instructions: Instructions = (feePayer) => {
    const parts = items.map((item) => ({ item, own: instructionsFor(item, feePayer) }));
    origins = parts.flatMap(({ item, own }) => own.map((_, position) => ({ item, position })));
    return parts.flatMap(({ own }) => own);
  };
  let outcome: Outcome;
  try {
    outcome = await sender.send({
      instructions,
      signers: items.flatMap((item) => item.signers),
      computeUnitLimit: items.length * computeUnitLimitEach,
    });
  } catch (error) {
    if (error instanceof TransactionTooLargeError && items.length > 1) {
      const half = Math.ceil(items.length / 2);
      await Promise.all([
        sendBatch(items.slice(0, half), context),
        sendBatch(items.slice(half), context),
      ]);
      return;
    }
    for (const item of items) item.end.reject(error);
    return;
  }

  const index = outcome.status === 'rejected' ? outcome.error.instructionIndex : null;
  const fault = index === null ? undefined : origins[index];
  if (outcome.status !== 'rejected' || fault === undefined || items.length === 1) {
    for (const item of items) item.end.resolve(outcome);
    return;
  }
  onFault(fault.item);
  const others = sendBatch(
    items.filter((item) => item !== fault.item),
    context,
  );
  if (outcome.error.code === null) {
    // Not a refusal by our program: an earlier item may have used up what this one needed.
    await sendBatch([fault.item], context);
  } else {
    const error = { ...outcome.error, instructionIndex: fault.position };
    fault.item.end.resolve({ ...outcome, error });
  }
  await others;
}

function instructionsFor({ instructions }: BatchItem, feePayer: PublicKey) {
  return typeof instructions === 'function' ? instructions(feePayer) : instructions;
}
