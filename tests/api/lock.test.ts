import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Keypair, type PublicKey } from '@solana/web3.js';
import type { ApiError } from '../../api/contracts/errors.ts';
import type { LedgerContext } from '../../api/ledger/context.ts';
import { draftJob } from '../../api/ledger/escrow.ts';
import { LockUndecidedError, type Quote } from '../../api/ledger/job.ts';
import { lockOnLedger } from '../../api/ledger/lockOnLedger.ts';
import { createLogger } from '../../common/logger.ts';
import { createBackground, systemTime } from '../../common/wait.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { NO_LIMIT } from '../../programs/client/generated/constants.ts';
import {
  LedgerUnavailableError,
  type SendResult,
} from '../../programs/client/sender/sendResult.ts';
import { toCoder } from '../../testing/ledger/anchorCoder.ts';
import { encodedAccount } from './encodedAccount.ts';

// What the ledger's own tests cannot bring about at will: how a lock's sending ends, and when.

const LOCK_CREDITS = 8n;
const TODAY = 20_000;
const NOW_SECONDS = BigInt(TODAY) * 86_400n + 86_399n;
const CONFIRMATION_WAIT_MS = 10_000;
/** Of the account's last change that the mirror has shown. */
const SEEN_SEQUENCE = 40n;
const gateway = Keypair.generate().publicKey;
const wallet = Keypair.generate().publicKey.toBase58();
const addresses = createAddresses();

/** Fields of the account as the ledger names them. */
type Limits = Record<string, bigint | number | PublicKey>;
const UNLIMITED: Limits = {
  ...{ limit_per_job_credits: NO_LIMIT, limit_per_day_credits: NO_LIMIT },
  ...{ spent_day: TODAY, spent_today_credits: 0n },
};

/** As a node reports it. */
const accountOf = (availableCredits: bigint, limits: Limits) =>
  encodedAccount('CreditAccount', {
    available_credits: toCoder(availableCredits),
    ...Object.fromEntries(Object.entries(limits).map(([name, value]) => [name, toCoder(value)])),
  });

/**
 * @param sent how the lock's sendings end, one after the other; all further ones as the last
 * @param readings what of the account is otherwise in its first readings
 */
function createScene(
  sent: Promise<SendResult> | Promise<SendResult>[],
  availableCredits = 0n,
  limits: Limits = {},
  readings: Limits[] = [],
) {
  const ends = [sent].flat();
  /** What a test may change: the ledger's time, and how long the first lock has waited. */
  const state = { nowSeconds: NOW_SECONDS, waitedMs: 0, hasFloat: true };
  const lateLocks = createBackground();
  const added: Parameters<LedgerContext['locks']['add']>[0][] = [];
  /** What a node reports of any account. */
  const node = {
    getAccountInfo: (): Promise<unknown> =>
      accountOf(availableCredits, {
        ...{ sequence: SEEN_SEQUENCE, ...UNLIMITED },
        ...limits,
        ...readings.shift(),
      }),
  };
  const context = {
    addresses,
    lateLocks,
    clock: {
      ...{ isRead: true, nowSeconds: () => state.nowSeconds },
      nowMs: () => Number(state.nowSeconds) * 1_000,
    },
    gateway,
    signer: Keypair.generate(),
    logger: createLogger({ name: 'test', level: 'silent' }),
    locks: {
      add(item: (typeof added)[0]) {
        added.push(item);
        return ends.length > 1 ? ends.shift() : ends[0];
      },
      waitedMs: () => state.waitedMs,
    },
    connection: node,
    time: systemTime,
    float: {
      allowsLock: async () => state.hasFloat,
      count: (lock: Promise<SendResult>) => lock,
    },
  } as unknown as LedgerContext;
  const quoted = {
    ...{ tokenLimit: 100, lockCredits: LOCK_CREDITS },
    model: { id: 'small', tier: 'small', credits_per_request: 1n, credits_per_1k_tokens: 1n },
  } as unknown as Quote;
  const payer = { wallet, sequence: SEEN_SEQUENCE };
  const request = { payer, quoted, onSent: () => undefined };
  const lock = () => lockOnLedger(context, { ...request, draft: draftJob(context, wallet) });
  return { lock, lateLocks, added, node, state };
}

const refusedFor = (name: string): Promise<SendResult> =>
  Promise.resolve({
    ...{ status: 'failed', signature: null, slot: 5 },
    error: { name, code: 6_000, instructionIndex: 0 },
  });

const errorOf = (locking: Promise<unknown>) =>
  locking.then(
    () => undefined,
    (error: ApiError) => error,
  );

const landed: SendResult = { status: 'landed', signature: 'a signature', slot: 6 };

describe('a confirmed lock', () => {
  it('takes its earliest and latest time from around its confirmation', async () => {
    const { lock } = createScene(Promise.resolve(landed));
    expect(await lock()).toMatchObject({
      lockedAtLatest: NOW_SECONDS + 1n,
      deadlines: {
        stopAt: NOW_SECONDS + 105n,
        proofDueAt: NOW_SECONDS + 115n,
        refundableAt: NOW_SECONDS + 122n,
      },
    });
  });
});

describe('an expired lock', () => {
  const expired = (): Promise<SendResult> =>
    Promise.resolve({ status: 'expired', signature: 'a lock', lastValidBlockHeight: 1, slot: 7 });

  it('holds when the ledger has the job nevertheless', async () => {
    const { lock, node } = createScene(expired());
    const getAccountInfo = jest.fn(() => encodedAccount('Job'));
    node.getAccountInfo = getAccountInfo;
    expect(await lock()).toMatchObject({ escrowTx: 'a lock' });
    // Not by a node that may not have come to its end.
    expect(getAccountInfo.mock.lastCall).toMatchObject([{}, { minContextSlot: 7 }]);
  });

  it('asks the client to retry when the ledger has no such job', async () => {
    const { lock, node } = createScene(expired());
    node.getAccountInfo = async () => null;
    const error = await errorOf(lock());
    expect(error).toMatchObject({ code: 'service_unavailable' });
    expect(error).not.toBeInstanceOf(LockUndecidedError);
  });
});

describe('a lock that is refused by a node behind the mirror', () => {
  const behind = { sequence: SEEN_SEQUENCE - 1n };
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  async function waitedFor(lock: () => Promise<unknown>): Promise<unknown> {
    const locking = lock().catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(CONFIRMATION_WAIT_MS);
    return locking;
  }

  it.each<[string, string, Limits, Limits]>([
    ['purchase', 'InsufficientCredits', {}, { ...behind, available_credits: 0n }],
    ['new spender', 'SpenderNotSet', { spender: gateway }, behind],
  ])('is sent again once the node shows the %s', async (_what, name, limits, reading) => {
    const sent = [refusedFor(name), Promise.resolve(landed)];
    const { lock } = createScene(sent, LOCK_CREDITS, limits, [reading]);
    expect(await waitedFor(lock)).toMatchObject({ escrowTx: 'a signature' });
  });

  it('is refused when the known spender is another one', async () => {
    const { lock } = createScene(refusedFor('SpenderNotSet'), LOCK_CREDITS);
    expect(await waitedFor(lock)).toMatchObject({ code: 'spender_not_set' });
  });

  it('leaves no job and asks the client to retry while the node stays behind', async () => {
    const { lock } = createScene(refusedFor('InsufficientCredits'), 0n, behind);
    const error = await waitedFor(lock);
    expect(error).toBeInstanceOf(LedgerUnavailableError);
    expect(error).toMatchObject({ signature: null });
  });
});

describe('a lock that the ledger refuses', () => {
  const day = 'DayLimitExceeded';
  const spent = { limit_per_day_credits: 10n, spent_day: TODAY, spent_today_credits: 3n };
  /** The next midnight UTC. */
  const resets_at = new Date((TODAY + 1) * 86_400_000).toISOString();
  const ofDay = `limit of 10 credits a day, 7 are left until ${resets_at}.`;
  const perJob = { limit_per_job_credits: 7n };
  /** What the ledger says and has when it refuses the first sending; it takes the second. */
  const refused = (name: string, limits: Limits, credits = LOCK_CREDITS) =>
    createScene([refusedFor(name), Promise.resolve(landed)], credits, limits);
  const limited = (message: string, details: object) => ({
    code: 'spending_limit_exceeded',
    message: expect.stringContaining(message),
    options: { details },
  });
  const details = { credits_remaining: 7, credits_required: 8 };
  const unpaid = { code: 'insufficient_credits', options: { details } };
  const ofToday = limited(ofDay, { limit: 10, credits_required: 8, left: 7, resets_at });
  const ofLowered = limited('0 are left', { limit: 2, left: 0 });
  const ofJob = limited('limit for one job is 7.', { limit: 7, credits_required: 8 });

  it.each([
    ['for too few credits', refused('InsufficientCredits', {}, 7n), unpaid],
    ['for the daily limit', refused(day, spent), ofToday],
    // No higher limit would help.
    ['for the daily limit, without credits,', refused(day, spent, 7n), unpaid],
    ['below what is spent', refused(day, { ...spent, limit_per_day_credits: 2n }), ofLowered],
    ['for the limit per job', refused('JobLimitExceeded', perJob), ofJob],
  ])('%s names what is missing or left', async (_why, { lock }, expected) => {
    expect(await errorOf(lock())).toMatchObject(expected);
  });

  it.each([
    ['at its start', 0n],
    ['at its end', 86_399n],
    ['after the clock has stepped back out of it', -1n],
  ])('for the daily limit is refused on the day that it was spent: %s', async (_when, second) => {
    const { lock, state } = refused(day, spent);
    state.nowSeconds = BigInt(TODAY) * 86_400n + second;
    expect(await errorOf(lock())).toMatchObject({ options: { details: { left: 7, resets_at } } });
  });

  it.each([
    ['the balance suffices', refused('InsufficientCredits', {})],
    ['enough of the day is left', refused(day, { ...spent, spent_today_credits: 2n })],
    ['it was spent on another day', refused(day, { ...spent, spent_day: TODAY - 1 })],
  ])('is sent again alone when %s: others took it along', async (_why, { lock }) => {
    expect(await lock()).toMatchObject({ escrowTx: 'a signature' });
  });

  it('again and again, with enough balance, is for the client to retry', async () => {
    const { lock } = createScene(refusedFor('InsufficientCredits'), LOCK_CREDITS);
    expect(await errorOf(lock())).toMatchObject({ code: 'service_unavailable' });
  });

  it('because the Gateway lacks our signer is the fault of the service', async () => {
    const error = await errorOf(createScene(refusedFor('Unauthorized')).lock());
    expect(error).toMatchObject({ code: 'service_unavailable' });
    expect(String(error?.cause)).toMatch(/^Error: SVC_SIGNER_KEY is no signer/);
  });
});

describe('a lock that is refused unsent', () => {
  it('is one behind a first in the queue that has waited 5 s', async () => {
    const { lock, added, state } = createScene(Promise.resolve(landed));
    state.waitedMs = 5_000;
    expect(await errorOf(lock())).toMatchObject({ code: 'service_unavailable' });
    expect(added).toEqual([]);
    state.waitedMs = 4_999;
    expect(await lock()).toMatchObject({ escrowTx: 'a signature' });
  });

  it('is one that would leave the hot signer too little for settlements', async () => {
    const { lock, added, state } = createScene(refusedFor('never sent'));
    state.hasFloat = false;
    const error = await errorOf(lock());
    expect(error).toMatchObject({
      code: 'service_unavailable',
      message: expect.stringMatching('too little SOL'),
    });
    expect(String(error?.cause)).toMatch(/SVC_SIGNER_KEY has less than 0.05 SOL/);
    expect(added).toEqual([]);
  });
});

describe('a lock that is not confirmed in time', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** Its client was asked to come back. */
  async function giveUp({ lock, added }: ReturnType<typeof createScene>) {
    const error = errorOf(lock());
    await jest.advanceTimersByTimeAsync(CONFIRMATION_WAIT_MS - 1);
    expect(added[0]?.isWanted?.()).toBe(true);
    await jest.advanceTimersByTimeAsync(1);
    // It is no longer sent.
    expect(added[0]?.isWanted?.()).toBe(false);
    expect(await error).toBeInstanceOf(LockUndecidedError);
    return (await error) as LockUndecidedError;
  }

  it('counts as undone once the ledger refuses it, and delays a shutdown', async () => {
    const sent = Promise.withResolvers<SendResult>();
    const scene = createScene(sent.promise);
    const { lateLocks } = scene;
    const { end } = await giveUp(scene);
    let isDrained = false;
    const drained = lateLocks.drain().then(() => {
      isDrained = true;
    });
    await jest.advanceTimersByTimeAsync(1_000);
    expect(isDrained).toBe(false);
    sent.resolve(refusedFor('LocksPaused'));
    expect(await end).toBe('undone');
    await drained;
  });

  it('is left to the keeper while it stays unknown, and delays no shutdown', async () => {
    const sent = Promise.withResolvers<SendResult>();
    const scene = createScene(sent.promise);
    const { lateLocks } = scene;
    const { end } = await giveUp(scene);
    sent.reject(new LedgerUnavailableError('away', { signature: 'a signature' }));
    expect(await end).toBe('left');
    await lateLocks.drain();
  });
});
