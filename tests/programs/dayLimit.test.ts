import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { claimPay, isEnded, lockCredits } from '../../programs/client/index.ts';
import { createRandom } from '../../testing/random.ts';
import { expectConserved } from './support/conservation.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { freshWorld } from './support/freshWorld.ts';
import {
  acknowledge,
  complete,
  composeLock,
  fail,
  jobIn,
  lockJob,
  prove,
  readJob,
  refund,
  settle,
} from './support/jobs.ts';
import { setLimits } from './support/parties.ts';
import { decide } from './support/verdicts.ts';
import { CREDITS, MODEL, send as sendAs, type World } from './support/world.ts';

const DAY = 86_400n;
/** Locks 12 credits; 2,000 tokens of it cost 8. */
const TOKEN_LIMIT = 3_000;

let world: World;
beforeEach(async () => {
  world = await freshWorld();
});
afterEach(() => expectConserved(world));

const account = () => world.read('CreditAccount', world.creditAccount);
const spent = async () => (await account()).spentTodayCredits;
const setLimit = (limitPerDayCredits: bigint) => setLimits(world, { limitPerDayCredits });
const lock = () => lockJob(world, { tokenLimit: TOKEN_LIMIT });
const send = (...instructions: TransactionInstruction[]) => sendAs(world, ...instructions);
const expectFull = async () => {
  const { instruction } = await composeLock(world, { tokenLimit: 1 });
  await expectRefusal(world, 'DayLimitExceeded', instruction);
};
const midnight = async () => ((await world.chain.now()) / DAY + 1n) * DAY;

/** Each way a lock ends, and what it charges of 12 credits. */
const ends: [string, bigint, (job: PublicKey) => Promise<unknown>][] = [
  ['completed', 8n, (job) => send(complete(world, job))],
  ['settled', 8n, (job) => send(acknowledge(world, job), prove(world, job), settle(world, job))],
  ['failed', 0n, (job) => send(fail(world, job))],
  [
    'refunded',
    0n,
    async (job) => {
      await pass(world, 121n);
      await send(refund(world, job));
    },
  ],
];

describe('the limit of a day', () => {
  it.each(ends)('counts of a %s job what it charged: %s credits', async (_, charged, end) => {
    await setLimit(12n);
    const job = await lock();
    expect(await spent()).toBe(12n);
    await expectFull();
    await end(job);
    expect(await spent()).toBe(charged);
    expect(world.chain.lastEvents().at(-1)?.data).toMatchObject({ spentTodayCredits: charged });
    await setLimit(charged + 8n);
    await lockJob(world);
    await expectFull();
  });

  it('gets back what ends after midnight, until a lock begins the new day', async () => {
    await setLimit(20n);
    const nextDay = await midnight();
    await world.chain.setTime(nextDay - 1n);
    const job = await lock();
    await world.chain.setTime(nextDay);
    await send(fail(world, job));
    const day = Number(nextDay / DAY);
    expect(await account()).toMatchObject({ spentDay: day - 1, spentTodayCredits: 0n });
    await world.chain.setTime(nextDay - 1n);
    const late = await lock();
    await world.chain.setTime(nextDay);
    await lock();
    await send(fail(world, late));
    expect(await account()).toMatchObject({ spentDay: day, spentTodayCredits: 12n });
  });

  it('does not begin again where the Clock steps back over midnight', async () => {
    await setLimit(24n);
    const nextDay = await midnight();
    const spentDay = Number(nextDay / DAY);
    await world.chain.setTime(nextDay - 5n);
    const before = await lock();
    await world.chain.setTime(nextDay);
    const later = await lock();
    await world.chain.setTime(nextDay - 1n);
    const back = await lock();
    expect(await account()).toMatchObject({ spentDay, spentTodayCredits: 24n });
    expect((await readJob(world, back)).limitDay).toBe(spentDay);
    await expectFull();
    await world.chain.setTime(nextDay + 1n);
    await expectFull();
    // The day of before is over: it gives nothing back to either.
    await send(fail(world, before));
    expect(await spent()).toBe(24n);
    await send(fail(world, back), fail(world, later));
    expect(await account()).toMatchObject({ spentDay, spentTodayCredits: 0n });
  });

  it('has nothing to do with what the wallet locks itself', async () => {
    await setLimit(8n);
    await lockJob(world);
    const own = { ...world, hotSigner: world.wallet };
    for (const end of [fail, complete]) {
      const job = await lockJob(own, { tokenLimit: TOKEN_LIMIT });
      expect((await readJob(world, job)).limitDay).toBe(0);
      await send(end(own, job));
      expect(await spent()).toBe(8n);
    }
    await expectFull();
  });

  it('gets nothing back from the repayment of a dispute', async () => {
    const job = await jobIn(world, 'disputed');
    await decide(world, job, 'upheld_gateway');
    expect(await account()).toMatchObject({ owedCredits: 8n, spentTodayCredits: 8n });
    await send(claimPay({ claimant: world.creditAccount }));
    expect(await spent()).toBe(8n);
  });
});

const random = createRandom();
const STEPS = 600;

describe(`a thief of the gateway’s key, with a worker of its own (seed ${random.seed})`, () => {
  it('charges and holds no more of a day than its limit', async () => {
    const limit = 60n;
    await setLimit(limit);
    /** The open jobs with their locks, and by day what they charged or still hold. */
    const open = new Map<PublicKey, { credits: bigint; day: bigint }>();
    const taken = new Map<bigint, bigint>();
    const add = (day: bigint, credits: bigint) => taken.set(day, (taken.get(day) ?? 0n) + credits);
    let today = 0n;

    const tryLock = async () => {
      const tokenLimit = 1 + random.below(6_000);
      const credits = lockCredits(MODEL, tokenLimit);
      const { instruction, job } = await composeLock(world, { tokenLimit });
      const day = (await world.chain.now()) / DAY;
      const counted = day > today ? day : today;
      const isAllowed = (taken.get(counted) ?? 0n) + credits <= limit;
      const outcome = await send(instruction).then(
        () => 'locked',
        (error: Error) => error.message,
      );
      expect(outcome).toBe(isAllowed ? 'locked' : 'DayLimitExceeded');
      if (!isAllowed) return;
      today = counted;
      open.set(job, { credits, day: today });
      add(today, credits);
    };
    const end = async (job: PublicKey, { credits, day }: { credits: bigint; day: bigint }) => {
      const tokens = random.below(6_000);
      const choice = { completionTokens: tokens, countedTokens: 1 + random.below(6_000) };
      const way = random.below(3) > 0 ? complete(world, job, choice) : fail(world, job);
      // Too late for either, it is refunded.
      await send(way).catch(() => send(refund(world, job)).catch(() => undefined));
      const { status, chargedCredits } = await readJob(world, job);
      if (!isEnded(status)) return;
      open.delete(job);
      add(day, chargedCredits - credits);
    };

    for (let step = 0; step < STEPS; step += 1) {
      const [some] = [...open].slice(random.below(Math.max(open.size, 1)));
      if (some && random.below(2) === 0) await end(...some);
      else await tryLock();
      const seconds = [0, 0, 0, 1, 60, 121, 20_000, -200][random.below(8)] ?? 0;
      await pass(world, BigInt(seconds));
      for (const credits of taken.values()) expect(credits).toBeLessThanOrEqual(limit);
      expect(await spent()).toBe(taken.get(today) ?? 0n);
    }
    expect(taken.size).toBeGreaterThan(3);
    const charged = CREDITS - (await account()).availableCredits - (await account()).lockedCredits;
    expect(charged).toBeGreaterThan(limit);
  });
});
