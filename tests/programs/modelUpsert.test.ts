import { beforeEach, describe, expect, it } from '@jest/globals';
import { SystemProgram } from '@solana/web3.js';
import { TIERS } from '../../programs/client/generated/vocabulary.ts';
import { ACCOUNT_VERSION, modelCardHash, modelText } from '../../programs/client/index.ts';
import type { ModelOffer } from '../../testing/kit/setUp.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { jobIn, readJob } from './support/jobs.ts';
import { withAccount } from './support/tampering.ts';
import { addresses, createWorld, MODEL, modelInstruction, type World } from './support/world.ts';

const U32_MAX = 2 ** 32 - 1;
/** Of a model that is not pinned. */
const NO_CARD = new Uint8Array(32);

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

describe('model_upsert', () => {
  it('adds a model', async () => {
    const { chain, authority } = world;
    const added = { ...MODEL, id: 'another-8b' };
    const { id, label, originator, ...numbers } = added;
    const model = addresses.model(id);
    const createdAt = await chain.now();
    await expectEvent(world, [modelInstruction(world, added)], [authority], 'ModelUpserted', {
      model,
      modelSequence: 1n,
      ...added,
      cardHash: NO_CARD,
      createdAt,
      retiresAt: 0n,
    });
    const found = await world.read('Model', model);
    expect(found).toMatchObject({
      version: ACCOUNT_VERSION,
      sequence: 1n,
      createdAt,
      retiresAt: 0n,
      cardHash: NO_CARD,
      ...numbers,
    });
    expect(modelText(found)).toEqual({ id, label, originator });
  });

  it('changes a model but not the prices of running jobs [charging.price-changes]', async () => {
    const { model, authority } = world;
    const added = await world.read('Model', model);
    const job = await jobIn(world, 'pending');
    await pass(world, 10n);
    const changed = { ...MODEL, creditsPerRequest: 9, label: '8.1B', tier: 'pro' } as const;
    await expectEvent(world, [modelInstruction(world, changed)], [authority], 'ModelUpserted', {
      model,
      modelSequence: 2n,
      ...changed,
      cardHash: NO_CARD,
      createdAt: added.createdAt,
      retiresAt: 0n,
    });
    const found = await world.read('Model', model);
    expect(found).toMatchObject({
      sequence: 2n,
      creditsPerRequest: 9,
      tier: 'pro',
      createdAt: added.createdAt,
    });
    expect(modelText(found)).toEqual({ ...modelText(added), label: '8.1B' });
    expect(await readJob(world, job)).toMatchObject({ creditsPerRequest: 8, tier: 'standard' });
  });

  it('pins a model to its card, until it is changed without one', async () => {
    const { chain, authority, model } = world;
    const card = { source: 'https://models.example/8b', revision: '1' };
    const cardHash = modelCardHash(card);
    const before = await world.read('Model', model);
    await chain.send([modelInstruction(world, { card })], [authority]);
    expect(chain.lastEvents()).toMatchObject([{ name: 'ModelUpserted', data: { cardHash } }]);
    expect(await world.read('Model', model)).toEqual({ ...before, sequence: 2n, cardHash });
    await chain.send([modelInstruction(world)], [authority]);
    expect((await world.read('Model', model)).cardHash).toEqual(NO_CARD);
  });

  it.each<Partial<ModelOffer>>([
    { tier: 'lite', contextWindowTokens: 1, creditsPerRequest: 1, creditsPer1kTokens: 1 },
    {
      tier: 'max',
      contextWindowTokens: U32_MAX,
      creditsPerRequest: U32_MAX,
      creditsPer1kTokens: U32_MAX,
      longCompletionThresholdTokens: U32_MAX,
    },
    { longCompletionThresholdTokens: 0 },
  ])('accepts the bounds of every range: %o', async (changes) => {
    await world.chain.send([modelInstruction(world, changes)], [world.authority]);
    expect(await world.read('Model', world.model)).toMatchObject(changes);
  });

  it.each([
    ['ValueOutOfRange', { contextWindowTokens: 0 }],
    ['ValueOutOfRange', { creditsPerRequest: 0 }],
    ['ValueOutOfRange', { creditsPer1kTokens: 0 }],
    ['InvalidText', { label: '' }],
    ['InvalidText', { label: 'x'.repeat(17) }],
    ['InvalidText', { originator: '' }],
    ['InvalidText', { originator: 'x'.repeat(33) }],
    ['InvalidText', { originator: 'x'.repeat(129) }],
    ['InvalidText', { originator: 'Caf\u00e9' }],
    ['InvalidText', { label: 'a\0' }],
    ['InvalidText', { label: 'a\n' }],
    ['InvalidText', { label: 'a\x7f' }],
  ] as const)('refuses with %s: %o', async (name, changes) => {
    const instruction = modelInstruction(world, changes);
    await expectRefusal(world, name, instruction, [world.authority]);
  });

  it('refuses a tier that does not exist', async () => {
    const instruction = modelInstruction(world, { id: 'x' });
    const tierOffset = 8 + 4 + 'x'.length;
    instruction.data[tierOffset] = TIERS.length;
    await expectRefusal(world, 'ValueOutOfRange', instruction, [world.authority]);
  });

  it('accepts ids of up to 64 printable characters', async () => {
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

  it('refuses to write a model at another’s address', async () => {
    const instruction = withAccount(
      modelInstruction(world, { id: 'another' }),
      'model',
      world.model,
    );
    await expectRefusal(world, 'WrongAddress', instruction, [world.authority]);
  });

  it('refuses an address that another program owns', async () => {
    const { chain, authority, stranger } = world;
    const held = { lamports: 1_000_000, data: new Uint8Array(1), executable: false };
    chain.setAccount(addresses.model('another'), { ...held, owner: stranger.publicKey });
    const instruction = modelInstruction(world, { id: 'another' });
    await expectRefusal(world, 'AlreadyInitialized', instruction, [authority]);
  });

  it('works when its address already holds lamports', async () => {
    const { chain, authority } = world;
    const model = addresses.model('another');
    chain.setAccount(model, {
      ...{ lamports: 1, data: new Uint8Array(), owner: SystemProgram.programId },
      executable: false,
    });
    await chain.send([modelInstruction(world, { id: 'another' })], [authority]);
    expect((await world.read('Model', model)).sequence).toBe(1n);
  });

  it('refuses every signer but the authority', async () => {
    for (const signer of [world.stranger, world.arbiter, world.operator]) {
      const instruction = modelInstruction({ ...world, authority: signer });
      await expectRefusal(world, 'Unauthorized', instruction, [signer]);
    }
  });
});
