import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { workerDeregister, workerUpdate } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEffect } from './support/emission.ts';
import { pass } from './support/expectations.ts';
import { freshWorld } from './support/freshWorld.ts';
import {
  ANSWER,
  acknowledge,
  complete,
  jobIn,
  lockJob,
  REQUEST,
  readJob,
  settle,
} from './support/jobs.ts';
import { addWorker } from './support/newcomers.ts';
import { freeze, leave, unhost, unlockStake, updateGateway } from './support/parties.ts';
import { addresses, CREDITS, send, type World } from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await freshWorld();
});
afterEach(() => expectConserved(world));

const worker = () => world.read('Worker', world.worker);

/** Of 12 locked credits ceil(2.1 × 4) = 9, which are 90,000 base units. 15 % are the treasury's. */
const COUNTED = { promptTokens: 20, completionTokens: 2_100 };
const charge = () => ({
  job: {
    status: 'settled' as const,
    settledBy: world.hotSigner.publicKey,
    chargedCredits: 9n,
    countedTokens: 2_200,
    endedAfterSeconds: 9,
  },
  creditAccount: {
    availableCredits: CREDITS - 9n,
    lockedCredits: 0n,
    spentTodayCredits: 9n,
  },
  worker: { jobsSettled: 1n },
  said: {
    returnedCredits: 3n,
    workerBaseUnits: 76_500n,
    workerPaid: true,
    treasuryBaseUnits: 13_500n,
    treasuryPaid: true,
  },
});
const expectPaid = async () => {
  expect(await world.chain.tokens(world.payout)).toBe(76_500n);
  expect(await world.chain.tokens(addresses.treasuryVault)).toBe(13_500n);
};

// What they refuse: support/refusals/jobs.ts. What cannot be paid at once: exits.test.ts.
describe('job_settle', () => {
  it('pays worker and treasury and returns the rest [charging.deducted-at-settlement]', async () => {
    const job = await jobIn(world, 'settling', { tokenLimit: 3_000, ...COUNTED });
    await pass(world, 9n);
    const settlement = settle(world, job, { countedTokens: 2_200 });
    await expectEffect({ ...world, job }, settlement, 'JobSettled', charge());
    await expectPaid();
  });

  it('says what it could not pay, which becomes claimable', async () => {
    const job = await jobIn(world, 'settling', { tokenLimit: 3_000, ...COUNTED });
    await pass(world, 9n);
    await freeze(world, world.payout);
    await freeze(world, addresses.treasuryVault);
    const due = charge();
    await expectEffect(
      { ...world, job },
      settle(world, job, { countedTokens: 2_200 }),
      'JobSettled',
      {
        ...due,
        worker: { jobsSettled: 1n, claimableBaseUnits: 76_500n },
        treasury: { unpaidBaseUnits: 13_500n },
        said: { ...due.said, workerPaid: false, treasuryPaid: false },
      },
    );
  });

  it('pays the payee of now, also of a worker that left after its proof', async () => {
    const { workerAuthority, proofKey } = world;
    const authority = workerAuthority.publicKey;
    const job = await jobIn(world, 'settling');
    const payout = world.token(world.creditMint, authority);
    const endpoint = 'https://elsewhere.example';
    const change = { authority, payout, proofKey: proofKey.publicKey, endpoint };
    await send(world, workerUpdate(change), workerDeregister({ authority }));
    await send(world, settle(world, job, { workerPayout: payout }));
    expect(await world.chain.tokens(payout)).toBe(68_000n);
  });
});

// That it equals three instructions: jobCompleteEquality.test.ts.
describe('job_complete', () => {
  it('gives, proves, charges and pays a pending job at once [charging.never-above-lock]', async () => {
    const job = await lockJob(world, { tokenLimit: 3_000 });
    await pass(world, 9n);
    const due = charge();
    const instruction = complete(world, job, { ...COUNTED, countedTokens: 2_200 });
    await expectEffect({ ...world, job }, instruction, 'JobCompleted', {
      ...due,
      job: {
        ...due.job,
        ...COUNTED,
        worker: world.worker,
        attempt: 1,
        outputHash: ANSWER,
        acknowledgedAfterSeconds: 9,
        provenAfterSeconds: 9,
      },
      said: { ...due.said, proofKey: world.proofKey.publicKey, statement: REQUEST },
    });
    await expectPaid();
  });

  it('ends the recorded attempt, whose time stays, or a later one by anybody', async () => {
    const twin = await addWorker(world);
    const { address, payout, proofKey } = twin;
    for (const [choice, acknowledgedAfterSeconds] of [
      [{ attempt: 1 }, 3],
      [{ attempt: 2 }, 7],
      [{ attempt: 255, worker: address, workerPayout: payout, key: proofKey }, 7],
    ] as const) {
      const job = await lockJob(world);
      await pass(world, 3n);
      await send(world, acknowledge(world, job));
      await pass(world, 4n);
      await send(world, complete(world, job, choice));
      expect(await readJob(world, job)).toMatchObject({
        status: 'settled',
        attempt: choice.attempt,
        worker: 'worker' in choice ? address : world.worker,
        acknowledgedAfterSeconds,
        provenAfterSeconds: 7,
      });
    }
    expect(await world.chain.tokens(payout)).toBe(68_000n);
  });

  it('ends a running attempt, though nothing new may be given any more', async () => {
    const running = [await jobIn(world, 'processing'), await jobIn(world, 'processing')];
    await unhost(world);
    await unlockStake(world, 1n);
    await leave(world);
    await updateGateway(world, { stopped: true });
    for (const job of running) await send(world, complete(world, job));
    expect((await worker()).jobsSettled).toBe(2n);
  });
});

describe.each([
  ['job_settle', 'settling', settle],
  ['job_complete', 'pending', complete],
] as const)('%s', (_, from, pay) => {
  it('charges the lower count, and at most the lock [charging.threshold]', async () => {
    const charged = async (tokenLimit: number, completionTokens: number, countedTokens: number) => {
      const job = await jobIn(world, from, { tokenLimit, completionTokens });
      const proven = from === 'pending' ? { completionTokens } : {};
      await send(world, pay(world, job, { countedTokens, ...proven }));
      return (await readJob(world, job)).chargedCredits;
    };
    const most = 2 ** 32 - 1;
    expect(await charged(10_000, 9_000, 4_001)).toBe(17n);
    expect(await charged(10_000, 4_001, 9_000)).toBe(17n);
    expect(await charged(3_000, 90_000, 90_000)).toBe(12n);
    // the published step down above the threshold: 501 tokens cost ceil(2.004) = 3
    expect(await charged(2_000, 500, 500)).toBe(8n);
    expect(await charged(2_000, 501, 501)).toBe(3n);
    expect(await charged(2_000, 0, 1)).toBe(8n);
    expect(await charged(32_768, most, most)).toBe(132n);
  });
});
