import { beforeEach, describe, expect, it } from '@jest/globals';
import { modelRetire, modelText } from '../../programs/client/index.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { jobIn, readJob } from './support/jobs.ts';
import { withAccount } from './support/tampering.ts';
import { addresses, createWorld, MODEL, modelInstruction, type World } from './support/world.ts';

const NOTICE = 30n * 86_400n;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

describe('model_upsert', () => {
  it('adds a model and later changes it, whose jobs in flight keep their prices', async () => {
    const { chain, authority, model } = world;
    const { id, label, originator, ...numbers } = MODEL;
    const added = await world.read('Model', model);
    expect(added).toMatchObject({ sequence: 1n, retiresAt: 0n, ...numbers });
    expect(modelText(added)).toEqual({ id, label, originator });

    const job = await jobIn(world, 'pending');
    await pass(world, 10n);
    const changes = { creditsPerRequest: 9, label: '8.1B', tier: 2 };
    await chain.send([modelInstruction(world, changes)], [authority]);
    const changed = await world.read('Model', model);
    expect(changed).toMatchObject({
      sequence: 2n,
      creditsPerRequest: 9,
      tier: 2,
      createdAt: added.createdAt,
    });
    expect(modelText(changed).label).toBe('8.1B');
    expect(await readJob(world, job)).toMatchObject({ creditsPerRequest: 8, tier: 1 });
  });

  it.each([
    ['ValueOutOfRange', { tier: 4 }],
    ['ValueOutOfRange', { contextWindowTokens: 0 }],
    ['ValueOutOfRange', { creditsPerRequest: 0 }],
    ['ValueOutOfRange', { creditsPer1kTokens: 0 }],
    ['InvalidText', { label: '' }],
    ['InvalidText', { label: 'x'.repeat(17) }],
    ['InvalidText', { originator: 'x'.repeat(33) }],
    ['InvalidText', { originator: 'Caf\u00e9' }],
    ['InvalidText', { label: 'a\0' }],
    ['InvalidText', { label: 'a\n' }],
  ] as const)('refuses with %s: %o', async (name, changes) => {
    const instruction = modelInstruction(world, changes);
    await expectRefusal(world, name, instruction, [world.authority]);
  });

  it('takes ids of up to 64 printable characters', async () => {
    const { chain, authority } = world;
    const id = '~ '.repeat(32);
    await chain.send([modelInstruction(world, { id })], [authority]);
    const model = await world.read('Model', addresses.model(id));
    expect(modelText(model).id).toBe(id);
    for (const bad of ['', 'x'.repeat(65), 'm\u00f6del']) {
      const refused = modelInstruction(world, { id: bad });
      await expectRefusal(world, 'InvalidText', refused, [authority]);
    }
  });

  it('refuses to write one model under another’s id', async () => {
    const instruction = withAccount(
      modelInstruction(world, { id: 'another' }),
      'model',
      world.model,
    );
    await expectRefusal(world, 'WrongAddress', instruction, [world.authority]);
  });

  it('refuses everybody but the authority', async () => {
    const instruction = modelInstruction({ ...world, authority: world.stranger });
    await expectRefusal(world, 'Unauthorized', instruction, [world.stranger]);
  });
});

describe('model_retire', () => {
  const retire = (retiresAt: bigint, authority = world.authority) =>
    modelRetire({ authority: authority.publicKey, modelId: MODEL.id, retiresAt });

  it('announces a date at least 30 days ahead, and takes it back', async () => {
    const { chain, authority, model } = world;
    const soonest = (await chain.now()) + NOTICE;
    await expectRefusal(world, 'RetirementTooSoon', retire(soonest - 1n), [authority]);
    await expectRefusal(world, 'RetirementTooSoon', retire(-1n), [authority]);
    await chain.send([retire(soonest)], [authority]);
    expect((await world.read('Model', model)).retiresAt).toBe(soonest);
    await chain.send([retire(0n)], [authority]);
    expect(await world.read('Model', model)).toMatchObject({ sequence: 3n, retiresAt: 0n });
  });

  it('refuses everybody but the authority', async () => {
    const { stranger } = world;
    await expectRefusal(world, 'Unauthorized', retire(0n, stranger), [stranger]);
  });
});
