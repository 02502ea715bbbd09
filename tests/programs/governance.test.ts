import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PublicKey } from '@solana/web3.js';
import {
  authorityAccept,
  authorityPropose,
  configUpdate,
  pauseSet,
  treasuryWithdraw,
} from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectRefusal } from './support/expectations.ts';
import { jobIn, readJob } from './support/jobs.ts';
import { addresses, createWorld, SETTINGS, type World } from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

const config = () => world.read('Config', addresses.config);

describe('config_update', () => {
  const update = (changes: object = {}, authority = world.authority) =>
    configUpdate({
      authority: authority.publicKey,
      arbiter: world.arbiter.publicKey,
      ...SETTINGS,
      ...changes,
    });

  it('changes the terms of later jobs, and jobs in flight keep theirs', async () => {
    const before = await jobIn(world, 'pending');
    const changes = { treasuryShareBasisPoints: 2_000, slashTokens: 100 };
    await world.chain.send([update(changes)], [world.authority]);
    expect(await config()).toMatchObject({ sequence: 2n, ...SETTINGS, ...changes });
    const after = await jobIn(world, 'pending');
    expect(await readJob(world, before)).toMatchObject({
      treasuryShareBasisPoints: 1_500,
      slashTokens: 500,
    });
    expect(await readJob(world, after)).toMatchObject(changes);
  });

  it('refuses everybody but the authority, and an authority that would judge', async () => {
    for (const signer of [world.arbiter, world.stranger]) {
      await expectRefusal(world, 'Unauthorized', update({}, signer), [signer]);
    }
    const judge = update({ arbiter: world.authority.publicKey });
    await expectRefusal(world, 'ValueOutOfRange', judge, [world.authority]);
    const share = update({ treasuryShareBasisPoints: 10_001 });
    await expectRefusal(world, 'ValueOutOfRange', share, [world.authority]);
  });
});

describe('a change of authority', () => {
  const propose = (pendingAuthority: PublicKey, authority = world.authority) =>
    authorityPropose({ authority: authority.publicKey, pendingAuthority });
  const accept = (signer = world.stranger) =>
    authorityAccept({ pendingAuthority: signer.publicKey });

  it('takes a proposal and its acceptance', async () => {
    const { chain, authority, stranger } = world;
    await chain.send([propose(stranger.publicKey)], [authority]);
    expect((await config()).pendingAuthority).toEqual(stranger.publicKey);
    await expectRefusal(world, 'Unauthorized', accept(authority), [authority]);
    await chain.send([accept()], [stranger]);
    expect(await config()).toMatchObject({
      sequence: 3n,
      authority: stranger.publicKey,
      pendingAuthority: PublicKey.default,
    });
    await expectRefusal(world, 'NoPendingAuthority', accept(), [stranger]);
    await expectRefusal(world, 'Unauthorized', propose(stranger.publicKey), [authority]);
  });

  it('can be withdrawn before it is accepted', async () => {
    const { chain, authority, stranger } = world;
    await chain.send([propose(stranger.publicKey), propose(PublicKey.default)], [authority]);
    await expectRefusal(world, 'NoPendingAuthority', accept(), [stranger]);
  });

  it('is refused to strangers and never makes the arbiter the authority', async () => {
    const { authority, arbiter, stranger } = world;
    const byStranger = propose(stranger.publicKey, stranger);
    await expectRefusal(world, 'Unauthorized', byStranger, [stranger]);
    await expectRefusal(world, 'ValueOutOfRange', propose(arbiter.publicKey), [authority]);
  });

  it('is not accepted by an arbiter appointed in between', async () => {
    const { chain, authority, stranger } = world;
    const appoint = configUpdate({
      authority: authority.publicKey,
      ...SETTINGS,
      arbiter: stranger.publicKey,
    });
    await chain.send([propose(stranger.publicKey), appoint], [authority]);
    await expectRefusal(world, 'ValueOutOfRange', accept(), [stranger]);
  });
});

describe('pause_set', () => {
  it('sets both flags, for the authority alone', async () => {
    const { chain, authority, arbiter } = world;
    const flags = { depositsPaused: true, locksPaused: false };
    const byArbiter = pauseSet({ authority: arbiter.publicKey, ...flags });
    await expectRefusal(world, 'Unauthorized', byArbiter, [arbiter]);
    await chain.send([pauseSet({ authority: authority.publicKey, ...flags })], [authority]);
    expect(await config()).toMatchObject({ sequence: 2n, ...flags });
  });
});

describe('treasury_withdraw', () => {
  const withdraw = (baseUnits: bigint, destination = world.walletTokens) =>
    treasuryWithdraw({ authority: world.authority.publicKey, destination, baseUnits });

  it('pays out what the treasury holds and no more', async () => {
    const { chain, authority, walletTokens } = world;
    await jobIn(world, 'settled');
    const before = await chain.tokens(walletTokens);
    await expectRefusal(world, 'TreasuryReserved', withdraw(12_001n), [authority]);
    await chain.send([withdraw(12_000n)], [authority]);
    expect(await chain.tokens(walletTokens)).toBe(before + 12_000n);
    await expectRefusal(world, 'ValueOutOfRange', withdraw(0n), [authority]);
  });

  it('refuses everybody but the authority, and payees that cannot be paid', async () => {
    const { authority, stranger, stakeMint, creditMint } = world;
    await jobIn(world, 'settled');
    const byStranger = treasuryWithdraw({
      authority: stranger.publicKey,
      destination: world.walletTokens,
      baseUnits: 1n,
    });
    await expectRefusal(world, 'Unauthorized', byStranger, [stranger]);
    const refused = (name: 'DuplicateAccount' | 'WrongMint' | 'WrongTokenAccount', to: PublicKey) =>
      expectRefusal(world, name, withdraw(1n, to), [authority]);
    await refused('DuplicateAccount', addresses.vault);
    await refused('DuplicateAccount', addresses.treasuryVault);
    await refused('WrongMint', world.token(stakeMint, stranger.publicKey));
    await refused('WrongTokenAccount', creditMint);
  });
});
