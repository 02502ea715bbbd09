import { base58 } from '@scure/base';
import { z } from 'zod';
import type { BlockCommitment } from '../../bank/chain.ts';
import { producedSlot } from '../../bank/mood.ts';
import type { BlockRow } from '../../store/history.ts';
import { Serialized } from '../../wire/text.ts';
import { encodeAccountsOnly, encodeTransaction } from '../encode/transaction.ts';
import {
  blockNotAvailable,
  contextOf,
  invalidParams,
  method,
  type RpcContext,
  slotSkipped,
  stateMethod,
} from '../protocol/method.ts';
import {
  blockhash,
  optional,
  reading,
  slot as slotParameter,
  storedReading,
  transactionReading,
} from '../protocol/parameters.ts';

/** The limit of clusters. */
const SLOTS_MAX = 500_000;
const SECOND_MS = 1_000;

/** Every slot has a block, usually an empty one, unless the mood skips it. */
export const blockMethods = {
  getSlot: method({ config: reading }, (context, { config }) => contextOf(context, config).slot),

  getBlockHeight: method({ config: reading }, (context, { config }) =>
    context.bank.mood.heightOf(contextOf(context, config).slot),
  ),

  getBlockTime: method({ slot: slotParameter }, (context, { slot }) => {
    expectPassed(context, slot, 'confirmed');
    return blockTimeOf(context, slot);
  }),

  getFirstAvailableBlock: method({}, () => 0),
  minimumLedgerSlot: method({}, () => 0),

  getBlocks: method(
    { first: slotParameter, last: optional(slotParameter), config: storedReading },
    (context, { first, last, config }) => {
      const { slot } = contextOf(context, config);
      const end = Math.min(last ?? slot, slot);
      if (end - first >= SLOTS_MAX) throw invalidParams(`a range of at most ${SLOTS_MAX} slots`);
      return produced(context, range(first, end));
    },
  ),

  getBlocksWithLimit: method(
    { first: slotParameter, limit: z.int().min(0).max(SLOTS_MAX), config: storedReading },
    (context, { first, limit, config }) => {
      // Of two slots one has a block at least.
      const end = Math.min(first + 2 * limit, contextOf(context, config).slot);
      return produced(context, range(first, end)).slice(0, limit);
    },
  ),

  getBlock: method(
    { slot: slotParameter, config: transactionReading },
    (context, { slot, config }) => {
      expectPassed(context, slot, config.commitment);
      const { bank } = context;
      const parent = Math.max(0, producedSlot(bank.mood, slot - 1));
      const head = {
        blockHeight: bank.mood.heightOf(slot),
        blockTime: blockTimeOf(context, slot),
        blockhash: bank.blockhashes.textAt(slot),
        parentSlot: parent,
        previousBlockhash: bank.blockhashes.textAt(parent),
        ...(config.rewards !== false && { rewards: [] }),
      };
      const details = transactionDetails(context, bank.store.block(slot), config);
      return new Serialized(`${JSON.stringify(head).slice(0, -1)}${details}}`);
    },
  ),

  getLatestBlockhash: stateMethod({ config: reading }, ({ bank }, _, { slot }) => ({
    blockhash: bank.blockhashes.textAt(slot),
    lastValidBlockHeight: bank.blockhashes.lastValidHeight(slot),
  })),

  isBlockhashValid: stateMethod({ blockhash, config: reading }, ({ bank }, given) => {
    const known = bank.blockhashes.slotOf(given.blockhash, bank.slot('processed'));
    return known !== undefined;
  }),
};

/**
 * The Clock's time at a past slot, in Unix seconds.
 *
 * @param block what a list has joined already, or the store is read for each of its rows
 */
export function blockTimeOf(
  { bank }: RpcContext,
  slot: number,
  block: Pick<BlockRow, 'clockMs'> | undefined = bank.store.block(slot),
): number {
  const clockMs = block?.clockMs ?? bank.timeline.clockMsAt(slot);
  return Math.floor(clockMs / SECOND_MS);
}

function expectPassed(
  { bank }: RpcContext,
  slot: number,
  commitment: BlockCommitment = 'finalized',
): void {
  if (slot > bank.slot(commitment)) throw blockNotAvailable(slot);
  if (bank.mood.isSkipped(slot)) throw slotSkipped(slot);
}

function transactionDetails(
  { bank }: RpcContext,
  row: BlockRow | undefined,
  config: z.output<typeof transactionReading>,
): string {
  const { transactionDetails: details = 'full' } = config;
  if (details === 'none') return '';
  const transactions = row ? bank.store.transactionsOf(row) : [];
  if (details === 'signatures') {
    return `,"signatures":${JSON.stringify(transactions.map(({ signature }) => base58.encode(signature)))}`;
  }
  const encode = details === 'accounts' ? encodeAccountsOnly : encodeTransaction;
  const texts = transactions.map((stored) => `{${encode(stored, config)}}`);
  return `,"transactions":[${texts.join()}]`;
}

function produced({ bank }: RpcContext, slots: readonly number[]): number[] {
  return slots.filter((slot) => !bank.mood.isSkipped(slot));
}

function range(first: number, last: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => first + index);
}
