import { describe, expect, it } from '@jest/globals';
import { IDL } from '../../programs/client/index.ts';
import { createRandom } from '../../testing/random.ts';
import { holdsLock, openBooks, TIMEOUT_SECONDS } from './support/walk/books.ts';
import { expireJob } from './support/walk/disputeActs.ts';
import { claimTreasury, governanceSteps } from './support/walk/governanceSteps.ts';
import { refundJob } from './support/walk/jobActs.ts';
import { jobSteps, lock } from './support/walk/jobSteps.ts';
import { expectAgreement, pick, type Step, type Walk } from './support/walk/walk.ts';
import { walletSteps, withdraw } from './support/walk/walletSteps.ts';
import { claim, workerSteps } from './support/walk/workerSteps.ts';
import { advanceSeconds, freezable, setFrozen, worldSteps } from './support/walk/worldSteps.ts';
import { addresses, createWorld } from './support/world.ts';

/**
 * A walk of random instructions, governance and frozen token accounts included, held against a
 * small model after every step. By environment: `WALK_STEPS` (3,000 unless set) and `SEED`, in place
 * of the seeds below. `npm run test:long -- walk --steps 50000 --seed 7` sets both. A walk goes on past its
 * steps until every instruction has succeeded at least once, which it has to.
 */

const STEPS = Number(process.env.WALK_STEPS ?? 3_000);
/** The rarest instruction may take so many steps more to succeed. */
const STEPS_MAX = STEPS + 20_000;
/** A long walk takes some ten milliseconds a step on a slow machine. */
const MS_PER_STEP_MAX = 60;
/** Seeds that once failed stay here. */
const seeds = process.env.SEED === undefined ? [1] : [Number(process.env.SEED)];

const names = IDL.instructions.map(({ name }) => name);

/** How often each family of steps is drawn, in a hundred. */
const weights: [number, readonly Step[]][] = [
  [20, [lock]],
  [45, jobSteps],
  [4, [advanceSeconds]],
  [8, walletSteps],
  [11, workerSteps],
  [8, governanceSteps],
  [4, worldSteps],
];
const families = weights.flatMap(([times, steps]) => Array.from({ length: times }, () => steps));
const draw = (walk: Walk): Step | undefined => pick(walk, pick(walk, families) ?? []);

/** In any state, everybody can be let out: nothing stays locked, frozen or unpaid for ever. */
async function letEverybodyOut(walk: Walk): Promise<void> {
  const { books, world } = walk;
  for (const account of freezable(walk)) await setFrozen(walk, account, false);
  books.now += TIMEOUT_SECONDS + 86_401n;
  await world.chain.setTime(books.now);
  for (const job of books.jobs) {
    if (holdsLock(job)) await refundJob(walk, job);
    if (job.status === 'disputed') await expireJob(walk, job);
  }
  for (const worker of books.workers) {
    if (worker.claimableBaseUnits > 0n) await claim(walk, worker);
  }
  if (books.treasury.unpaidBaseUnits > 0n) await claimTreasury(walk);
  for (const wallet of books.wallets) {
    if (wallet.availableCredits > 0n) await withdraw(walk, wallet, wallet.availableCredits);
  }
  await expectAgreement(walk);
  expect(await world.chain.tokens(addresses.vault)).toBe(0n);
}

describe.each(seeds)('a random walk with seed %i', (seed) => {
  it(
    `equals the model after each of ${STEPS} steps, and leaves every exit open`,
    async () => {
      const world = await createWorld();
      const books = openBooks(world, await world.chain.now());
      const performed = new Set(['config_initialize']);
      const walk: Walk = { world, random: createRandom(seed), books, performed };
      const missing = () => names.filter((name) => !performed.has(name));
      for (let step = 0; step < STEPS || (missing().length > 0 && step < STEPS_MAX); step += 1) {
        await draw(walk)?.(walk);
        await expectAgreement(walk);
      }
      await letEverybodyOut(walk);
      expect(missing()).toEqual([]);
    },
    60_000 + STEPS_MAX * MS_PER_STEP_MAX,
  );
});
