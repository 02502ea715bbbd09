import type { LedgerEvent, LedgerEventData, LedgerTransaction } from '../../indexer/fold/event.ts';
import type { LedgerSource, ListedTransaction } from '../../indexer/source/source.ts';
import { buy, openWallet } from './program/credit.ts';
import { acknowledge, lock, prove } from './program/job.ts';
import { close, complete, settle } from './program/jobEnd.ts';
import {
  CHARGED_CREDITS,
  emptyState,
  type Instruction,
  type ProgramState,
} from './program/programState.ts';
import { registerWorker } from './program/worker.ts';

/** A history of any length, computed when it is read, so that it takes no memory. */
interface SyntheticSource extends LedgerSource {
  readonly transactions: number;
  /** The transaction at this place, counted from the oldest. */
  at(index: number): ListedTransaction;
  /** The number of calls of `list`. */
  readonly questions: number;
}

/** On average. */
export const EVENTS_PER_TRANSACTION = 4;
/** Several transactions share a slot, as on a busy ledger. */
const TRANSACTIONS_PER_SLOT = 4;
const SOMEBODY = 'a wallet';
const CREDIT_ACCOUNT = 'its credit account';
const WORKER = 'a worker';
const BOUGHT_CREDITS = 10n ** 12n;

/**
 * A wallet buys credits and a worker registers. Each further transaction is the life of one job. It
 * locks, acknowledges, proves, settles and closes it, or for every other one locks, completes and
 * closes it. Everything is final.
 *
 * @param transactions the number of transactions, including the first
 */
export function createSyntheticSource(transactions: number): SyntheticSource {
  let questions = 0;
  const listed = (index: number): ListedTransaction => ({
    signature: `synthetic-${index}`,
    slot: slotOf(index),
    failed: false,
  });
  const newestSlot = async () => slotOf(transactions - 1);
  return {
    transactions,
    at: listed,
    get questions() {
      return questions;
    },
    async list({ before, limit }) {
      questions += 1;
      const end = before === undefined ? transactions : indexOf(before);
      const length = Math.min(limit, end);
      return Array.from({ length }, (_, position) => listed(end - 1 - position));
    },
    read: async ({ signature, slot }) => transactionOf(indexOf(signature), { signature, slot }),
    slot: newestSlot,
    genesisHash: async () => 'synthetic',
    locate: async (signatures) =>
      new Map(signatures.map((signature) => [signature, slotOf(indexOf(signature))])),
  };
}

function slotOf(index: number): bigint {
  return BigInt(1 + Math.floor(index / TRANSACTIONS_PER_SLOT));
}

function indexOf(signature: string): number {
  return Number(signature.slice(signature.lastIndexOf('-') + 1));
}

function eventsOf(index: number, slot: bigint): LedgerEventData[] {
  if (index === 0) {
    const opening = [openWallet(SOMEBODY, CREDIT_ACCOUNT), buy(SOMEBODY, BOUGHT_CREDITS)];
    return execute(emptyState(), [...opening, registerWorker(WORKER)], slot);
  }
  const number = index - 1;
  const job = `job ${number}`;
  return execute(stateBefore(BigInt(number)), lifeOf(number), slot).map(
    (event) => ({ ...event, data: { ...event.data, job } }) as LedgerEventData,
  );
}

function transactionOf(
  index: number,
  place: { signature: string; slot: bigint },
): LedgerTransaction {
  const events = eventsOf(index, place.slot).map(
    (event, position): LedgerEvent => ({
      ...place,
      ...event,
      instructionIndex: position,
      innerIndex: 0,
    }),
  );
  return { ...place, events };
}

/** The program's accounts when so many jobs have come to their ends. */
function stateBefore(jobs: bigint): ProgramState {
  const state = emptyState();
  state.treasury.sequence = 1n;
  state.wallets.set(SOMEBODY, {
    creditAccount: CREDIT_ACCOUNT,
    wallet: SOMEBODY,
    sequence: 2n * jobs + 2n,
    availableCredits: BOUGHT_CREDITS - jobs * CHARGED_CREDITS,
    lockedCredits: 0n,
    owedCredits: 0n,
    openDisputes: 0,
  });
  state.workers.set(WORKER, {
    ...{ worker: WORKER, sequence: jobs + 1n, stakeTokens: 0n, claimableBaseUnits: 0n },
    ...{ jobsSettled: jobs, hosts: false },
  });
  return state;
}

const PAID = { worker: true, treasury: true };

function lifeOf(number: number): Instruction[] {
  const id = number.toString(16).padStart(32, '0');
  const ending =
    number % 2 === 0
      ? [acknowledge(id, WORKER), prove(id), settle(id, PAID)]
      : [complete(id, WORKER, PAID)];
  return [lock(id, SOMEBODY), ...ending, close(id)];
}

function execute(
  state: ProgramState,
  instructions: readonly Instruction[],
  slot: bigint,
): LedgerEventData[] {
  const now = { slot: `${slot}`, unixTime: `${slot}` };
  return instructions.map((instruction) => instruction(state, now) as LedgerEventData);
}
