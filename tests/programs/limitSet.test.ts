import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Keypair } from '@solana/web3.js';
import { limitSet, spenderSet } from '../../programs/client/index.ts';
import { NO_SPENDER } from '../../testing/kit/setUp.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { composeLock, lockJob } from './support/jobs.ts';
import { withAccount } from './support/tampering.ts';
import { createWorld, type World } from './support/world.ts';

const NO_LIMIT = 2n ** 64n - 1n;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const account = () => world.read('CreditAccount', world.creditAccount);
const set = (
  limitPerJobCredits: bigint,
  limitPerDayCredits: bigint,
  owner: Keypair = world.wallet,
) =>
  withAccount(
    limitSet({ wallet: owner.publicKey, limitPerJobCredits, limitPerDayCredits }),
    'credit_account',
    world.creditAccount,
  );

describe('limit_set', () => {
  it.each([
    [0n, 0n],
    [1n, 2n],
    [NO_LIMIT, NO_LIMIT - 1n],
  ])('records the limits %i per job and %i per day', async (perJob, perDay) => {
    const { wallet, creditAccount } = world;
    const before = await account();
    const limits = { limitPerJobCredits: perJob, limitPerDayCredits: perDay };
    await expectEvent(world, [set(perJob, perDay)], [wallet], 'LimitSet', {
      creditAccount,
      creditSequence: 3n,
      wallet: wallet.publicKey,
      ...limits,
    });
    expect(await account()).toEqual({ ...before, sequence: 3n, ...limits });
  });

  it("blocks the spender's locks when a limit is zero", async () => {
    const { chain, wallet, hotSigner } = world;
    await chain.send([set(0n, NO_LIMIT)], [wallet]);
    const { instruction } = await composeLock(world);
    await expectRefusal(world, 'JobLimitExceeded', instruction, [hotSigner]);
    await chain.send([set(NO_LIMIT, 0n)], [wallet]);
    await expectRefusal(world, 'DayLimitExceeded', instruction, [hotSigner]);
  });

  it('keeps what was already spent today', async () => {
    const { chain, wallet, hotSigner } = world;
    await lockJob(world);
    await chain.send([set(NO_LIMIT, 15n)], [wallet]);
    const { instruction } = await composeLock(world);
    await expectRefusal(world, 'DayLimitExceeded', instruction, [hotSigner]);
    await chain.send([set(NO_LIMIT, 16n)], [wallet]);
    await lockJob(world);
  });

  it('is refused while no spender is named', async () => {
    const { chain, wallet } = world;
    const none = spenderSet({ wallet: wallet.publicKey, ...NO_SPENDER });
    await chain.send([none], [wallet]);
    await expectRefusal(world, 'SpenderNotSet', set(1n, 2n), [wallet]);
  });

  it('refuses every signer but the wallet [charging.no-withdrawal-by-key]', async () => {
    for (const signer of [world.stranger, world.hotSigner, world.operator, world.authority]) {
      await expectRefusal(world, 'Unauthorized', set(1n, 2n, signer), [signer]);
    }
  });
});
