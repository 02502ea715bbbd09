import { beforeEach, describe, expect, it } from '@jest/globals';
import { Keypair, PublicKey } from '@solana/web3.js';
import { gatewaySigners, gatewayUpdate } from '../../programs/client/index.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { composeLock, fail, lockJob } from './support/jobs.ts';
import { withAccount } from './support/tampering.ts';
import { createWorld, type World } from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const keys = (count: number): PublicKey[] =>
  Array.from({ length: count }, () => Keypair.generate().publicKey);
const update = (signers: PublicKey[], stopped: boolean, operator = world.operator) =>
  withAccount(
    gatewayUpdate({ operator: operator.publicKey, signers, stopped }),
    'gateway',
    world.gateway,
  );

describe('gateway_update', () => {
  it('replaces the signers and the stop flag, repeatedly', async () => {
    const { operator, gateway } = world;
    let gatewaySequence = 2n;
    for (const [count, stopped] of [
      [3, true],
      [8, true],
      [1, false],
      [0, false],
    ] as const) {
      gatewaySequence += 1n;
      const signers = keys(count);
      await expectEvent(world, [update(signers, stopped)], [operator], 'GatewayUpdated', {
        ...{ gateway, gatewaySequence, operator: operator.publicKey, signers, stopped },
      });
      const found = await world.read('Gateway', gateway);
      expect(found).toMatchObject({ sequence: gatewaySequence, stopped, signersLen: count });
      expect(gatewaySigners(found)).toEqual(signers);
      // No former signer is left behind the present ones.
      expect(found.signers.slice(count).every((key) => key.equals(PublicKey.default))).toBe(true);
    }
  });

  it('revokes a hot key for running and new jobs in one transaction', async () => {
    const { chain, operator, hotSigner, stranger } = world;
    const job = await lockJob(world);
    await chain.send([update([stranger.publicKey], false)], [operator]);
    await expectRefusal(world, 'Unauthorized', fail(world, job), [hotSigner]);
    const { instruction } = await composeLock(world);
    await expectRefusal(world, 'Unauthorized', instruction, [hotSigner]);
    await chain.send([fail(world, job, { signer: stranger.publicKey })], [stranger]);
  });

  it('requires the operator’s signature and refuses hot signers', async () => {
    for (const signer of [world.hotSigner, world.authority, world.wallet, world.stranger]) {
      await expectRefusal(world, 'Unauthorized', update(keys(1), false, signer), [signer]);
    }
  });

  it('refuses more than eight signers, the zero key and duplicates', async () => {
    const { operator } = world;
    await expectRefusal(world, 'ValueOutOfRange', update(keys(9), false), [operator]);
    const zero = update([...keys(1), PublicKey.default], false);
    await expectRefusal(world, 'ValueOutOfRange', zero, [operator]);
    const [one] = keys(1) as [PublicKey];
    await expectRefusal(world, 'DuplicateAccount', update([one, one], false), [operator]);
  });
});
