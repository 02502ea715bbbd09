import { beforeEach, describe, expect, it } from '@jest/globals';
import { modelRetire } from '../../programs/client/index.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { createWorld, MODEL, type World } from './support/world.ts';

const NOTICE = 30n * 86_400n;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const retire = (retiresAt: bigint, authority = world.authority) =>
  modelRetire({ authority: authority.publicKey, modelId: MODEL.id, retiresAt });

describe('model_retire', () => {
  it('announces a date, moves it, and cancels it [models.retirement]', async () => {
    const { chain, authority, model } = world;
    const before = await world.read('Model', model);
    const soonest = (await chain.now()) + NOTICE;
    let modelSequence = 1n;
    for (const retiresAt of [soonest, soonest + 1n, 2n ** 63n - 1n, 0n, 0n]) {
      modelSequence += 1n;
      const retired = { model, modelSequence, id: MODEL.id, retiresAt };
      await expectEvent(world, [retire(retiresAt)], [authority], 'ModelRetired', retired);
      const found = await world.read('Model', model);
      expect(found).toEqual({ ...before, sequence: modelSequence, retiresAt });
    }
  });

  it('refuses a date less than 30 days ahead [models.retirement]', async () => {
    const { chain, authority } = world;
    const soonest = (await chain.now()) + NOTICE;
    for (const retiresAt of [soonest - 1n, 1n, -1n, -(2n ** 63n)]) {
      await expectRefusal(world, 'RetirementTooSoon', retire(retiresAt), [authority]);
    }
  });

  it('refuses every signer but the authority', async () => {
    for (const signer of [world.stranger, world.arbiter, world.operator]) {
      await expectRefusal(world, 'Unauthorized', retire(0n, signer), [signer]);
    }
  });
});
