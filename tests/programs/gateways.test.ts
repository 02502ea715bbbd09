import { beforeEach, describe, expect, it } from '@jest/globals';
import { PublicKey as Key, Keypair, type PublicKey } from '@solana/web3.js';
import { gatewayOpen, gatewaySigners, gatewayUpdate } from '../../programs/client/index.ts';
import { expectRefusal } from './support/expectations.ts';
import { withAccount } from './support/tampering.ts';
import { addresses, createWorld, type World } from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const keys = (count: number): PublicKey[] =>
  Array.from({ length: count }, () => Keypair.generate().publicKey);

describe('gateway_open', () => {
  const open = (operator: Keypair, signers: PublicKey[]) =>
    gatewayOpen({ payer: operator.publicKey, operator: operator.publicKey, signers });

  it('opens a gateway with one to eight signers, once for an operator', async () => {
    const { chain, stranger } = world;
    const signers = keys(8);
    await chain.send([open(stranger, signers)], [stranger]);
    const gateway = await world.read('Gateway', addresses.gateway(stranger.publicKey));
    expect(gateway).toMatchObject({
      sequence: 1n,
      operator: stranger.publicKey,
      stopped: false,
      signersLen: 8,
      signers,
    });
    await expectRefusal(world, 'AlreadyInitialized', open(stranger, keys(1)), [stranger]);
  });

  it('refuses none, nine, the zero key and the same key twice', async () => {
    const { stranger } = world;
    const refused = (name: 'ValueOutOfRange' | 'DuplicateAccount', signers: PublicKey[]) =>
      expectRefusal(world, name, open(stranger, signers), [stranger]);
    await refused('ValueOutOfRange', []);
    await refused('ValueOutOfRange', keys(9));
    await refused('ValueOutOfRange', [Key.default]);
    const [one] = keys(1) as [PublicKey];
    await refused('DuplicateAccount', [one, ...keys(2), one]);
  });
});

describe('gateway_update', () => {
  const update = (signers: PublicKey[], stopped: boolean, operator = world.operator) =>
    withAccount(
      gatewayUpdate({ operator: operator.publicKey, signers, stopped }),
      'gateway',
      world.gateway,
    );

  it('replaces the signers and the stop flag', async () => {
    const { chain, operator } = world;
    const signers = keys(3);
    await chain.send([update(signers, true)], [operator]);
    const gateway = await world.read('Gateway', world.gateway);
    expect(gateway).toMatchObject({ sequence: 2n, stopped: true });
    expect(gatewaySigners(gateway)).toEqual(signers);
    await chain.send([update([], false)], [operator]);
    expect(gatewaySigners(await world.read('Gateway', world.gateway))).toEqual([]);
  });

  it('is the operator’s alone, never a hot signer’s', async () => {
    for (const signer of [world.hotSigner, world.authority, world.stranger]) {
      await expectRefusal(world, 'Unauthorized', update(keys(1), false, signer), [signer]);
    }
  });

  it('refuses more than eight signers and the same key twice', async () => {
    const { operator } = world;
    await expectRefusal(world, 'ValueOutOfRange', update(keys(9), false), [operator]);
    const [one] = keys(1) as [PublicKey];
    await expectRefusal(world, 'DuplicateAccount', update([one, one], false), [operator]);
  });
});
