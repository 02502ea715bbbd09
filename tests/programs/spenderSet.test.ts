import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Keypair, PublicKey } from '@solana/web3.js';
import { spenderSet } from '../../programs/client/index.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { composeLock, jobIn, lockJob } from './support/jobs.ts';
import { withAccount } from './support/tampering.ts';
import { createWorld, type World } from './support/world.ts';

const LIMITS = { limitPerJobCredits: 400n, limitPerDayCredits: 4_000n };
const ZERO_LIMITS = { limitPerJobCredits: 0n, limitPerDayCredits: 0n };

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const account = () => world.read('CreditAccount', world.creditAccount);
const set = (
  spender: PublicKey,
  owner: Keypair = world.wallet,
  limits: { limitPerJobCredits: bigint; limitPerDayCredits: bigint } = LIMITS,
) =>
  withAccount(
    spenderSet({ wallet: owner.publicKey, spender, ...limits }),
    'credit_account',
    world.creditAccount,
  );

describe('spender_set', () => {
  it('sets, replaces and removes a spender with limits, with credits locked', async () => {
    const { wallet, stranger, creditAccount } = world;
    await jobIn(world, 'pending');
    const before = await account();
    let creditSequence = before.sequence;
    for (const [spender, limits] of [
      [stranger.publicKey, LIMITS],
      [stranger.publicKey, { ...LIMITS, limitPerJobCredits: 2n ** 64n - 1n }],
      [PublicKey.default, ZERO_LIMITS],
    ] as const) {
      creditSequence += 1n;
      const named = { creditAccount, creditSequence, wallet: wallet.publicKey, spender, ...limits };
      await expectEvent(world, [set(spender, wallet, limits)], [wallet], 'SpenderSet', named);
      expect(await account()).toEqual({ ...before, sequence: creditSequence, spender, ...limits });
    }
  });

  it('refuses limits without a spender', async () => {
    for (const limits of [{ limitPerJobCredits: 1n }, { limitPerDayCredits: 1n }]) {
      const none = set(PublicKey.default, world.wallet, { ...ZERO_LIMITS, ...limits });
      await expectRefusal(world, 'ValueOutOfRange', none, [world.wallet]);
    }
  });

  it('gives a new spender its own limits, and what was locked today counts on', async () => {
    const { chain, wallet, stranger } = world;
    await lockJob(world);
    const limits = { limitPerJobCredits: 8n, limitPerDayCredits: 15n };
    await chain.send([set(stranger.publicKey, wallet, limits)], [wallet]);
    const { instruction } = await composeLock(world, { signer: stranger, gateway: null });
    await expectRefusal(world, 'DayLimitExceeded', instruction, [stranger]);
    await chain.send(
      [set(stranger.publicKey, wallet, { ...limits, limitPerDayCredits: 16n })],
      [wallet],
    );
    await chain.send([instruction], [stranger]);
  });

  it('ends the former spender’s rights at once', async () => {
    const { chain, wallet, stranger, hotSigner } = world;
    await chain.send([set(stranger.publicKey)], [wallet]);
    const { instruction } = await composeLock(world);
    await expectRefusal(world, 'SpenderNotSet', instruction, [hotSigner]);
  });

  it('refuses every signer but the wallet [charging.no-withdrawal-by-key]', async () => {
    for (const signer of [world.stranger, world.hotSigner, world.operator, world.authority]) {
      const instruction = set(signer.publicKey, signer);
      await expectRefusal(world, 'Unauthorized', instruction, [signer]);
    }
  });
});
