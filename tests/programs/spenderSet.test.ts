import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Keypair, PublicKey } from '@solana/web3.js';
import { spenderSet } from '../../programs/client/index.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { composeLock, jobIn } from './support/jobs.ts';
import { withAccount } from './support/tampering.ts';
import { createWorld, type World } from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const account = () => world.read('CreditAccount', world.creditAccount);
const set = (spender: PublicKey, owner: Keypair = world.wallet) =>
  withAccount(
    spenderSet({ wallet: owner.publicKey, spender }),
    'credit_account',
    world.creditAccount,
  );

describe('spender_set', () => {
  it('sets, replaces and removes a spender, whatever is locked', async () => {
    const { wallet, stranger, creditAccount } = world;
    await jobIn(world, 'pending');
    const before = await account();
    let creditSequence = before.sequence;
    for (const spender of [stranger.publicKey, stranger.publicKey, PublicKey.default]) {
      creditSequence += 1n;
      const named = { creditAccount, creditSequence, wallet: wallet.publicKey, spender };
      await expectEvent(world, [set(spender)], [wallet], 'SpenderSet', named);
      expect(await account()).toEqual({ ...before, sequence: creditSequence, spender });
    }
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
