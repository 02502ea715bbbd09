import type { LedgerEvent, LedgerEventData, LedgerTransaction } from '../../indexer/fold/event.ts';
import type { LedgerSource, ListedTransaction } from '../../indexer/source/source.ts';

/** A history of any length, computed when it is read, so that it takes no memory. */
interface SyntheticSource extends LedgerSource {
  readonly transactions: number;
  /** The number of calls of `list`. */
  readonly questions: number;
}

export const EVENTS_PER_TRANSACTION = 5;
/** Several transactions share a slot, as on a busy ledger. */
const TRANSACTIONS_PER_SLOT = 4;
const NOBODY = '11111111111111111111111111111111';
const WALLET = 'a wallet';
const CREDIT_ACCOUNT = 'its credit account';
const WORKER = 'a worker';
const BOUGHT_CREDITS = 10n ** 12n;
const LOCKED_CREDITS = 8n;
const CHARGED_CREDITS = 3n;

/**
 * A wallet buys credits and a worker registers. Each further transaction locks, proves, settles and
 * closes one job. Everything is final.
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
  return Number(signature.slice('synthetic-'.length));
}

function transactionOf(
  index: number,
  place: { signature: string; slot: bigint },
): LedgerTransaction {
  const data = index === 0 ? opening(place.slot) : life(index - 1, place.slot);
  const events = data.map(
    (event, position): LedgerEvent => ({
      ...place,
      ...event,
      instructionIndex: position,
      innerIndex: 0,
    }),
  );
  return { ...place, events };
}

const NO_LIMITS = { limitPerJobCredits: '0', limitPerDayCredits: '0' };

function opening(slot: bigint): LedgerEventData[] {
  const time = { slot: `${slot}`, unixTime: `${slot}` };
  const account = { creditAccount: CREDIT_ACCOUNT, wallet: WALLET };
  return [
    {
      name: 'CreditOpened',
      data: { ...time, ...account, creditSequence: '1', spender: NOBODY, ...NO_LIMITS },
    },
    {
      name: 'CreditBought',
      data: {
        ...time,
        ...account,
        creditSequence: '2',
        buyer: WALLET,
        credits: `${BOUGHT_CREDITS}`,
        availableCredits: `${BOUGHT_CREDITS}`,
        lockedCredits: '0',
      },
    },
    {
      name: 'WorkerRegistered',
      data: {
        ...time,
        worker: WORKER,
        workerSequence: '1',
        authority: WALLET,
        proofKey: WALLET,
        payout: WALLET,
        endpoint: 'http://127.0.0.1:9',
      },
    },
  ];
}

const NOTHING_VOIDED = {
  voidedWorker: WALLET,
  voidedAttempt: 0,
  voidedOutputHash: '0'.repeat(64),
};

/** @param number counts the jobs from 0 */
function life(number: number, slot: bigint): LedgerEventData[] {
  const time = { slot: `${slot}`, unixTime: `${slot}` };
  const jobId = number.toString(16).padStart(32, '0');
  const job = { ...time, job: `job ${number}`, jobId };
  const account = { creditAccount: CREDIT_ACCOUNT, wallet: WALLET };
  const before = BOUGHT_CREDITS - BigInt(number) * CHARGED_CREDITS;
  const answer = { outputHash: jobId.repeat(2), promptTokens: 10, completionTokens: 600 };
  return [
    {
      name: 'JobLocked',
      data: {
        ...job,
        ...account,
        jobSequence: 1,
        creditSequence: `${2 * number + 3}`,
        controller: WALLET,
        model: 'a model',
        modelId: 'model',
        tier: 'standard',
        tokenLimit: 2_000,
        creditsPerRequest: 8,
        creditsPer1kTokens: 4,
        longCompletionThresholdTokens: 500,
        treasuryShareBasisPoints: 1_500,
        slashTokens: 500,
        jobTimeoutSeconds: 120,
        disputeWindowSeconds: 60,
        arbitrationWindowSeconds: 86_400,
        rentPayer: WALLET,
        vouched: true,
        lockedCredits: `${LOCKED_CREDITS}`,
        availableCredits: `${before - LOCKED_CREDITS}`,
        accountLockedCredits: `${LOCKED_CREDITS}`,
        spentDay: 0,
        spentTodayCredits: '0',
      },
    },
    {
      name: 'JobAcknowledged',
      data: { ...job, ...NOTHING_VOIDED, jobSequence: 2, worker: WORKER, attempt: 1 },
    },
    {
      name: 'JobProven',
      data: { ...job, ...answer, jobSequence: 3, worker: WORKER, attempt: 1 },
    },
    {
      name: 'JobSettled',
      data: {
        ...job,
        ...account,
        ...answer,
        jobSequence: 4,
        creditSequence: `${2 * number + 4}`,
        worker: WORKER,
        workerSequence: `${number + 2}`,
        settledBy: WALLET,
        countedTokens: 600,
        chargedCredits: `${CHARGED_CREDITS}`,
        returnedCredits: `${LOCKED_CREDITS - CHARGED_CREDITS}`,
        workerBaseUnits: '25500',
        workerPaid: true,
        workerClaimableBaseUnits: '0',
        treasuryBaseUnits: '4500',
        treasuryPaid: true,
        treasuryUnpaidBaseUnits: '0',
        treasurySequence: '1',
        jobsSettled: `${number + 1}`,
        availableCredits: `${before - CHARGED_CREDITS}`,
        accountLockedCredits: '0',
      },
    },
    {
      name: 'JobClosed',
      data: { ...job, jobSequence: 5, rentPayer: WALLET, rentLamports: '1' },
    },
  ];
}
