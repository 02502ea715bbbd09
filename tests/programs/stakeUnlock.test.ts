import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  configUpdate,
  stakeDeposit,
  stakeUnlock,
  stakeWithdraw,
} from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { withAccount } from './support/tampering.ts';
import { createWorld, SETTINGS, STAKE_TOKENS, type World } from './support/world.ts';

const COOLDOWN = BigInt(SETTINGS.unstakeCooldownSeconds);

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

const worker = () => world.read('Worker', world.worker);
const unlock = (tokens: bigint, authority = world.workerAuthority) =>
  withAccount(stakeUnlock({ authority: authority.publicKey, tokens }), 'worker', world.worker);

describe('stake_unlock', () => {
  it('starts the cooldown of the unlocked tokens, again with every unlock', async () => {
    const { chain, workerAuthority } = world;
    const before = await worker();
    let unstakingTokens = 0n;
    let workerSequence = 3n;
    for (const tokens of [1n, 399n, 600n]) {
      await pass(world, 7n);
      workerSequence += 1n;
      unstakingTokens += tokens;
      const moved = {
        stakeTokens: STAKE_TOKENS - unstakingTokens,
        unstakingTokens,
        unstakeReadyAt: (await chain.now()) + COOLDOWN,
      };
      await expectEvent(world, [unlock(tokens)], [workerAuthority], 'StakeUnlocked', {
        ...{ worker: world.worker, workerSequence, tokens, ...moved },
      });
      expect(await worker()).toEqual({ ...before, sequence: workerSequence, ...moved });
    }
    await expectRefusal(world, 'InsufficientStake', unlock(1n), [workerAuthority]);
  });

  it('refuses zero, and more than the stake', async () => {
    const { workerAuthority } = world;
    await expectRefusal(world, 'ValueOutOfRange', unlock(0n), [workerAuthority]);
    for (const tokens of [STAKE_TOKENS + 1n, 2n ** 64n - 1n]) {
      await expectRefusal(world, 'InsufficientStake', unlock(tokens), [workerAuthority]);
    }
    await world.chain.send([unlock(STAKE_TOKENS)], [workerAuthority]);
    expect((await worker()).stakeTokens).toBe(0n);
  });

  it('requires the signature of the worker’s authority', async () => {
    for (const signer of [world.stranger, world.arbiter, world.authority, world.proofKey]) {
      await expectRefusal(world, 'Unauthorized', unlock(1n, signer), [signer]);
    }
  });

  describe('after the cooldown was changed', () => {
    const HOUR = 3_600;
    const LOWER = SETTINGS.unstakeCooldownSeconds - HOUR;
    const HIGHER = SETTINGS.unstakeCooldownSeconds + HOUR;
    const setCooldown = (unstakeCooldownSeconds: number) => {
      const { chain, authority, arbiter } = world;
      const terms = { ...SETTINGS, arbiter: arbiter.publicKey, unstakeCooldownSeconds };
      return chain.send([configUpdate({ authority: authority.publicKey, ...terms })], [authority]);
    };
    const deposit = (tokens: bigint) => {
      const { chain, stranger, stakeMint } = world;
      const from = world.token(stakeMint, stranger.publicKey, 10n ** 12n);
      const paid = { depositor: stranger.publicKey, depositorTokenAccount: from };
      return chain.send([stakeDeposit({ ...paid, worker: world.worker, tokens })], [stranger]);
    };
    /** Unlocks a token and returns how long it has to wait. */
    const waitSeconds = async () => {
      await world.chain.send([unlock(1n)], [world.workerAuthority]);
      return Number((await worker()).unstakeReadyAt - (await world.chain.now()));
    };

    it('keeps the cooldown of the deposit, also when it was raised since', async () => {
      await setCooldown(HIGHER);
      expect(await waitSeconds()).toBe(SETTINGS.unstakeCooldownSeconds);
    });

    it('keeps the lowest of all deposits by any signer', async () => {
      await setCooldown(HIGHER);
      await deposit(1n);
      expect((await worker()).unstakeCooldownSeconds).toBe(SETTINGS.unstakeCooldownSeconds);
      await setCooldown(LOWER);
      await deposit(1n);
      await setCooldown(HIGHER);
      await deposit(1n);
      expect(await waitSeconds()).toBe(LOWER);
    });

    it('begins again once nothing was staked', async () => {
      const { chain, workerAuthority, stakeTokens } = world;
      await chain.send([unlock(STAKE_TOKENS)], [workerAuthority]);
      await setCooldown(HIGHER);
      await deposit(1n);
      expect((await worker()).unstakeCooldownSeconds).toBe(SETTINGS.unstakeCooldownSeconds);
      await chain.send([unlock(1n)], [workerAuthority]);
      await pass(world, COOLDOWN);
      const named = { authority: workerAuthority.publicKey, destination: stakeTokens };
      await chain.send([stakeWithdraw(named)], [workerAuthority]);
      await deposit(1n);
      expect(await waitSeconds()).toBe(HIGHER);
    });
  });
});
