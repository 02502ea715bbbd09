import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { PublicKey } from '@solana/web3.js';
import { stakeUnlock, stakeWithdraw } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { withAccount } from './support/tampering.ts';
import { addresses, createWorld, SETTINGS, STAKE_TOKENS, type World } from './support/world.ts';

const COOLDOWN = BigInt(SETTINGS.unstakeCooldownSeconds);

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

const worker = () => world.read('Worker', world.worker);
const withdraw = (destination = world.stakeTokens, authority = world.workerAuthority) =>
  withAccount(
    stakeWithdraw({ authority: authority.publicKey, destination }),
    'worker',
    world.worker,
  );
const unlock = (tokens: bigint) =>
  world.chain.send(
    [stakeUnlock({ authority: world.workerAuthority.publicKey, tokens })],
    [world.workerAuthority],
  );

describe('stake_withdraw', () => {
  it('pays out once, when the cooldown is over and not a second before', async () => {
    const { chain, workerAuthority, stakeTokens } = world;
    await expectRefusal(world, 'NothingToClaim', withdraw(), [workerAuthority]);
    await unlock(400n);
    await pass(world, COOLDOWN - 1n);
    await expectRefusal(world, 'CooldownNotOver', withdraw(), [workerAuthority]);
    await pass(world, 1n);
    const before = await worker();
    const held = await chain.tokens(stakeTokens);
    await expectEvent(world, [withdraw()], [workerAuthority], 'StakeWithdrawn', {
      worker: world.worker,
      workerSequence: 5n,
      tokens: 400n,
      stakeTokens: 600n,
      unstakingTokens: 0n,
      unstakeReadyAt: 0n,
      destination: stakeTokens,
    });
    expect(await chain.tokens(stakeTokens)).toBe(held + 400_000_000_000n);
    expect(await worker()).toEqual({
      ...before,
      sequence: 5n,
      unstakingTokens: 0n,
      unstakeReadyAt: 0n,
    });
    await expectRefusal(world, 'NothingToClaim', withdraw(), [workerAuthority]);
  });

  it('waits for the cooldown of the last unlock', async () => {
    const { chain, workerAuthority } = world;
    await unlock(1n);
    await pass(world, COOLDOWN - 1n);
    await unlock(1n);
    await pass(world, 1n);
    await expectRefusal(world, 'CooldownNotOver', withdraw(), [workerAuthority]);
    await pass(world, COOLDOWN - 1n);
    await chain.send([withdraw()], [workerAuthority]);
    expect(await worker()).toMatchObject({ stakeTokens: STAKE_TOKENS - 2n, unstakingTokens: 0n });
  });

  it("pays the whole stake to an account of the authority's choice", async () => {
    const { chain, workerAuthority, stakeMint, stranger } = world;
    await unlock(STAKE_TOKENS);
    await pass(world, COOLDOWN + 1n);
    const elsewhere = world.token(stakeMint, stranger.publicKey);
    await chain.send([withdraw(elsewhere)], [workerAuthority]);
    expect(await chain.tokens(elsewhere)).toBe(STAKE_TOKENS * 1_000_000_000n);
  });

  it('refuses unusable destinations', async () => {
    const { chain, workerAuthority, stakeMint, stranger } = world;
    await unlock(400n);
    await pass(world, COOLDOWN);
    const refused = (name: Parameters<typeof expectRefusal>[1], to: PublicKey) =>
      expectRefusal(world, name, withdraw(to), [workerAuthority]);
    await refused('DuplicateAccount', addresses.stakeVault);
    await refused('WrongMint', world.payout);
    await refused('WrongTokenAccount', stakeMint);
    const frozen = world.token(stakeMint, stranger.publicKey);
    const holding = { mint: stakeMint, owner: stranger.publicKey, baseUnits: 0n };
    chain.setToken(frozen, { ...holding, frozen: true });
    await refused('WrongTokenAccount', frozen);
  });

  it('pays only from the stake vault', async () => {
    await unlock(400n);
    await pass(world, COOLDOWN);
    const theft = withAccount(withdraw(), 'stake_vault', addresses.vault);
    await expectRefusal(world, 'WrongAddress', theft, [world.workerAuthority]);
  });

  it('requires the signature of the worker’s authority', async () => {
    await unlock(400n);
    await pass(world, COOLDOWN);
    for (const signer of [world.stranger, world.arbiter, world.authority, world.proofKey]) {
      const theft = withdraw(world.stakeTokens, signer);
      await expectRefusal(world, 'Unauthorized', theft, [signer]);
    }
  });
});
