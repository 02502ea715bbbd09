import { beforeEach, describe, expect, it } from '@jest/globals';
import { gatewayUpdate, gatewayVouch } from '../../programs/client/index.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { lockJob, readJob } from './support/jobs.ts';
import { createWorld, type World } from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const vouch = (vouched: boolean, authority = world.authority) =>
  gatewayVouch({ authority: authority.publicKey, gateway: world.gateway, vouched });
const gateway = () => world.read('Gateway', world.gateway);

describe('gateway_vouch', () => {
  it('says whether the authority vouches for the gateway', async () => {
    const { authority, operator } = world;
    const before = await gateway();
    expect(before.vouched).toBe(true);
    for (const [step, vouched] of [false, true, true].entries()) {
      const gatewaySequence = before.sequence + BigInt(step + 1);
      await expectEvent(world, [vouch(vouched)], [authority], 'GatewayVouched', {
        gateway: world.gateway,
        gatewaySequence,
        operator: operator.publicKey,
        vouched,
      });
      expect(await gateway()).toEqual({ ...before, sequence: gatewaySequence, vouched });
    }
  });

  it('counts for jobs that are locked from then on', async () => {
    const { chain, authority } = world;
    const before = await lockJob(world);
    await chain.send([vouch(false)], [authority]);
    const after = await lockJob(world);
    expect((await readJob(world, before)).vouched).toBe(true);
    expect((await readJob(world, after)).vouched).toBe(false);
    const direct = await lockJob(world, { signer: world.wallet, gateway: null });
    expect((await readJob(world, direct)).vouched).toBe(false);
  });

  it('is not lost by an update of the gateway, and not won by one', async () => {
    const { chain, operator, authority, hotSigner } = world;
    const update = () =>
      gatewayUpdate({
        operator: operator.publicKey,
        signers: [hotSigner.publicKey],
        stopped: false,
      });
    await chain.send([update()], [operator]);
    expect((await gateway()).vouched).toBe(true);
    await chain.send([vouch(false)], [authority]);
    await chain.send([update()], [operator]);
    expect((await gateway()).vouched).toBe(false);
  });

  it('refuses every signer but the authority', async () => {
    for (const signer of [world.operator, world.hotSigner, world.arbiter, world.stranger]) {
      await expectRefusal(world, 'Unauthorized', vouch(true, signer), [signer]);
    }
  });
});
