import { beforeEach, describe, expect, it } from '@jest/globals';
import { PublicKey } from '@solana/web3.js';
import { configUpdate } from '../../programs/client/index.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { jobIn, readJob } from './support/jobs.ts';
import { addresses, createWorld, SETTINGS, type World } from './support/world.ts';

const COOLDOWN_SECONDS_MAX = 30 * 86_400;
/** Timeout, dispute window and arbitration window, and an hour. */
const COOLDOWN_SECONDS_MIN = 120 + 60 + 86_400 + 3_600;
const CREDITS_MAX = 10_000_000_000_000n;
const STAKE_TOKENS_MAX = 10_000_000_000n;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const config = () => world.read('Config', addresses.config);
const update = (changes: object = {}, authority = world.authority) =>
  configUpdate({
    authority: authority.publicKey,
    arbiter: world.arbiter.publicKey,
    ...SETTINGS,
    ...changes,
  });

describe('config_update', () => {
  it('changes the terms of later jobs but not of running ones', async () => {
    const { authority, arbiter, creditMint, stakeMint } = world;
    const before = await config();
    const inFlight = await jobIn(world, 'pending');
    const terms = { ...SETTINGS, treasuryShareBasisPoints: 2_000, slashTokens: 100 };
    await expectEvent(world, [update(terms)], [authority], 'ConfigUpdated', {
      configSequence: 2n,
      authority: authority.publicKey,
      arbiter: arbiter.publicKey,
      creditMint,
      stakeMint,
      ...terms,
      ...{ earlierFloorCredits: 0n, earlierFloorEndsAt: 0n },
    });
    expect(await config()).toEqual({ ...before, sequence: 2n, ...terms });
    const later = await jobIn(world, 'pending');
    expect(await readJob(world, inFlight)).toMatchObject({
      treasuryShareBasisPoints: 1_500,
      slashTokens: 500,
    });
    const { treasuryShareBasisPoints, slashTokens } = terms;
    expect(await readJob(world, later)).toMatchObject({ treasuryShareBasisPoints, slashTokens });
  });

  it('appoints another arbiter', async () => {
    const { chain, authority, stranger } = world;
    await chain.send([update({ arbiter: stranger.publicKey })], [authority]);
    expect((await config()).arbiter).toEqual(stranger.publicKey);
  });

  it('accepts unchanged terms', async () => {
    await world.chain.send([update()], [world.authority]);
    await world.chain.send([update()], [world.authority]);
    expect(await config()).toMatchObject({ sequence: 3n, ...SETTINGS });
  });

  it('refuses every signer but the authority', async () => {
    for (const signer of [world.arbiter, world.operator, world.stranger]) {
      await expectRefusal(world, 'Unauthorized', update({}, signer), [signer]);
    }
  });

  it.each([
    { treasuryShareBasisPoints: 10_001 },
    { unstakeCooldownSeconds: COOLDOWN_SECONDS_MIN - 1 },
    { unstakeCooldownSeconds: COOLDOWN_SECONDS_MAX + 1 },
    { openDisputesMax: 0 },
    { minimumStakeTokens: 0n, slashTokens: 0 },
    { minimumStakeTokens: STAKE_TOKENS_MAX + 1n },
    { minimumStakeTokens: 499n },
    { slashTokens: 1_001 },
    { jobCreditsMax: 0n },
    { jobCreditsMax: CREDITS_MAX + 1n },
    { creditAccountCreditsMax: 0n },
    { creditAccountCreditsMax: CREDITS_MAX + 1n },
    { treasuryFloorCredits: CREDITS_MAX + 1n },
  ])('refuses terms out of range: %o', async (terms) => {
    await expectRefusal(world, 'ValueOutOfRange', update(terms), [world.authority]);
  });

  it.each([
    {
      treasuryShareBasisPoints: 0,
      unstakeCooldownSeconds: COOLDOWN_SECONDS_MIN,
      openDisputesMax: 1,
      minimumStakeTokens: 1n,
      slashTokens: 0,
      jobCreditsMax: 1n,
      creditAccountCreditsMax: 1n,
      treasuryFloorCredits: 0n,
    },
    {
      treasuryShareBasisPoints: 10_000,
      unstakeCooldownSeconds: COOLDOWN_SECONDS_MAX,
      openDisputesMax: 255,
      minimumStakeTokens: STAKE_TOKENS_MAX,
      slashTokens: 2 ** 32 - 1,
      jobCreditsMax: CREDITS_MAX,
      creditAccountCreditsMax: CREDITS_MAX,
      treasuryFloorCredits: CREDITS_MAX,
    },
  ])('accepts the bounds of every range: %o', async (terms) => {
    await world.chain.send([update(terms)], [world.authority]);
    expect(await config()).toMatchObject(terms);
  });

  it('refuses the authority and the zero key as the arbiter', async () => {
    for (const arbiter of [world.authority.publicKey, PublicKey.default]) {
      await expectRefusal(world, 'ValueOutOfRange', update({ arbiter }), [world.authority]);
    }
  });
});
