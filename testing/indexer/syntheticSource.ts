import { hash } from 'node:crypto';
import type { LedgerEvent, LedgerEventData, LedgerTransaction } from '../../indexer/fold/event.ts';
import type { LedgerSource, ListedTransaction } from '../../indexer/source/source.ts';
import {
  ARBITRATION_WINDOW_SECONDS,
  DISPUTE_WINDOW_SECONDS,
  JOB_TIMEOUT_SECONDS,
} from '../../programs/client/generated/constants.ts';

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
const NO_KEY = '11111111111111111111111111111111';
const SOMEBODY = 'a wallet';
const WORKER = 'a worker';
const BOUGHT_CREDITS = 10n ** 12n;
const LOCKED_CREDITS = 8n;
const CHARGED_CREDITS = 3n;

/** How much of a ledger's sizes a history has. */
interface Shape {
  /** Each of the first transactions has one buy credits; they then take turns. 1 by default. */
  readonly wallets?: number;
  /** Whether addresses and signatures are as long as a ledger's, and in no order. */
  readonly isFullLength?: boolean;
}

/**
 * A wallet buys credits and a worker registers. Each further transaction is the life of one job. It
 * locks, acknowledges, proves, settles and closes it, or for every other one locks, completes and
 * closes it. Everything is final.
 *
 * @param transactions the number of transactions, including the first
 */
export function createSyntheticSource(
  transactions: number,
  { wallets = 1, isFullLength = false }: Shape = {},
): SyntheticSource {
  let questions = 0;
  const { signatureOf, transactionOf } = createHistory(wallets, isFullLength);
  const listed = (index: number): ListedTransaction => ({
    signature: signatureOf(index),
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

const ADDRESS_CHARACTERS = 44;
const SIGNATURE_CHARACTERS = 88;

/** As long as the ledger's base58, and as random. */
function spell(name: string, characters: number): string {
  return hash('sha512', name).slice(0, characters);
}

function createHistory(wallets: number, isFullLength: boolean) {
  const address = (name: string) => (isFullLength ? spell(name, ADDRESS_CHARACTERS) : name);
  const accountOf = (number: number) => {
    const suffix = wallets === 1 ? '' : ` ${number}`;
    return {
      creditAccount: address(`its credit account${suffix}`),
      wallet: address(`${SOMEBODY}${suffix}`),
    };
  };

  function signatureOf(index: number): string {
    const name = `synthetic-${index}`;
    if (!isFullLength) return name;
    const end = `-${index}`;
    return spell(name, SIGNATURE_CHARACTERS - end.length) + end;
  }

  function eventsOf(index: number, slot: bigint): LedgerEventData[] {
    if (index < wallets) {
      const events = opening(accountOf(index), slot);
      return index === 0 ? [...events, registration(slot)] : events;
    }
    const number = index - wallets;
    const turn = Math.floor(number / wallets);
    const account = accountOf(number % wallets);
    return life({ number, turn, account, job: address(`job ${number}`) }, slot);
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

  return { signatureOf, transactionOf };
}

interface Account {
  readonly creditAccount: string;
  readonly wallet: string;
}

const NO_LIMITS = { limitPerJobCredits: '0', limitPerDayCredits: '0' };

function opening(account: Account, slot: bigint): LedgerEventData[] {
  const time = { slot: `${slot}`, unixTime: `${slot}` };
  return [
    {
      name: 'CreditOpened',
      data: { ...time, ...account, creditSequence: '1', spender: NO_KEY, ...NO_LIMITS },
    },
    {
      name: 'CreditBought',
      data: {
        ...time,
        ...account,
        creditSequence: '2',
        buyer: account.wallet,
        credits: `${BOUGHT_CREDITS}`,
        availableCredits: `${BOUGHT_CREDITS}`,
        lockedCredits: '0',
      },
    },
  ];
}

function registration(slot: bigint): LedgerEventData {
  return {
    name: 'WorkerRegistered',
    data: {
      ...{ slot: `${slot}`, unixTime: `${slot}`, worker: WORKER, workerSequence: '1' },
      ...{ authority: SOMEBODY, proofKey: SOMEBODY, payout: SOMEBODY },
      endpoint: 'http://127.0.0.1:9',
    },
  };
}

const NOTHING_VOIDED = {
  voidedWorker: SOMEBODY,
  voidedAttempt: 0,
  voidedOutputHash: '0'.repeat(64),
};

interface Life {
  /** Counts the jobs from 0. */
  readonly number: number;
  /** Counts those of the account. */
  readonly turn: number;
  readonly account: Account;
  readonly job: string;
}

/** What every event of a job begins with. */
interface JobPlace {
  readonly slot: string;
  readonly unixTime: string;
  readonly job: string;
  readonly jobId: string;
}

function life(of: Life, slot: bigint): LedgerEventData[] {
  const { number, turn, account } = of;
  const time = { slot: `${slot}`, unixTime: `${slot}` };
  const jobId = number.toString(16).padStart(32, '0');
  const job = { ...time, job: of.job, jobId };
  const ending = number % 2 === 0 ? stepByStep(of, job) : atOnce(of, job);
  return [
    {
      name: 'JobLocked',
      data: {
        ...job,
        ...account,
        jobSequence: 1,
        creditSequence: `${2 * turn + 3}`,
        controller: account.wallet,
        model: 'a model',
        modelId: 'model',
        tier: 'standard',
        tokenLimit: 2_000,
        creditsPerRequest: 8,
        creditsPer1kTokens: 4,
        longCompletionThresholdTokens: 500,
        treasuryShareBasisPoints: 1_500,
        slashTokens: 500,
        jobTimeoutSeconds: JOB_TIMEOUT_SECONDS,
        disputeWindowSeconds: DISPUTE_WINDOW_SECONDS,
        arbitrationWindowSeconds: ARBITRATION_WINDOW_SECONDS,
        rentPayer: account.wallet,
        vouched: true,
        lockedCredits: `${LOCKED_CREDITS}`,
        availableCredits: `${creditsBefore(turn) - LOCKED_CREDITS}`,
        accountLockedCredits: `${LOCKED_CREDITS}`,
        ...{ limitDay: 0, spentDay: 0, spentTodayCredits: '0' },
      },
    },
    ...ending,
    {
      name: 'JobClosed',
      data: {
        ...{ ...job, jobSequence: ending.length + 2 },
        ...{ rentPayer: account.wallet, rentLamports: '1' },
      },
    },
  ];
}

function creditsBefore(turn: number): bigint {
  return BOUGHT_CREDITS - BigInt(turn) * CHARGED_CREDITS;
}

const ATTEMPT = { worker: WORKER, attempt: 1 };

function stepByStep(of: Life, job: JobPlace): LedgerEventData[] {
  return [
    {
      name: 'JobAcknowledged',
      data: { ...job, ...NOTHING_VOIDED, ...ATTEMPT, jobSequence: 2 },
    },
    { name: 'JobProven', data: { ...job, ...ATTEMPT, ...proofOf(job), jobSequence: 3 } },
    { name: 'JobSettled', data: { ...job, ...settlementOf(of, job), jobSequence: 4 } },
  ];
}

function atOnce(of: Life, job: JobPlace): LedgerEventData[] {
  const data = { ...job, ...ATTEMPT, ...proofOf(job), ...settlementOf(of, job), jobSequence: 2 };
  return [{ name: 'JobCompleted', data }];
}

function answerOf({ jobId }: JobPlace) {
  return { outputHash: jobId.repeat(2), promptTokens: 10, completionTokens: 600 };
}

function proofOf(job: JobPlace) {
  return { ...answerOf(job), proofKey: SOMEBODY, requestCommitment: job.jobId.repeat(2) };
}

function settlementOf({ number, turn, account }: Life, job: JobPlace) {
  return {
    ...account,
    ...answerOf(job),
    creditSequence: `${2 * turn + 4}`,
    worker: WORKER,
    workerSequence: `${number + 2}`,
    settledBy: account.wallet,
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
    availableCredits: `${creditsBefore(turn) - CHARGED_CREDITS}`,
    accountLockedCredits: '0',
    spentTodayCredits: '0',
  };
}
