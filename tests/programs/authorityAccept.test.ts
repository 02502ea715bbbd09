import { beforeEach, describe, expect, it } from '@jest/globals';
import { PublicKey } from '@solana/web3.js';
import { authorityAccept, authorityPropose, configUpdate } from '../../programs/client/index.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { addresses, createWorld, SETTINGS, type World } from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const config = () => world.read('Config', addresses.config);
const propose = (authority = world.authority) =>
  authorityPropose({
    authority: authority.publicKey,
    pendingAuthority: world.stranger.publicKey,
  });
const accept = (signer = world.stranger) => authorityAccept({ pendingAuthority: signer.publicKey });

describe('authority_accept', () => {
  it('makes the proposed key the authority, once', async () => {
    const { chain, authority, stranger } = world;
    await chain.send([propose()], [authority]);
    const proposed = await config();
    const accepted = { configSequence: 3n, authority: stranger.publicKey };
    await expectEvent(world, [accept()], [stranger], 'AuthorityAccepted', accepted);
    expect(await config()).toEqual({
      ...proposed,
      sequence: 3n,
      authority: stranger.publicKey,
      pendingAuthority: PublicKey.default,
    });
    await expectRefusal(world, 'NoPendingAuthority', accept(), [stranger]);
    await expectRefusal(world, 'Unauthorized', propose(), [authority]);
  });

  it('is refused when no key is proposed', async () => {
    await expectRefusal(world, 'NoPendingAuthority', accept(), [world.stranger]);
  });

  it('is refused to every other key, including the authority', async () => {
    await world.chain.send([propose()], [world.authority]);
    for (const signer of [world.authority, world.arbiter, world.wallet]) {
      await expectRefusal(world, 'Unauthorized', accept(signer), [signer]);
    }
  });

  it('is refused to a key that became the arbiter in between', async () => {
    const { chain, authority, stranger } = world;
    const appoint = configUpdate({
      authority: authority.publicKey,
      ...SETTINGS,
      arbiter: stranger.publicKey,
    });
    await chain.send([propose(), appoint], [authority]);
    await expectRefusal(world, 'ValueOutOfRange', accept(), [stranger]);
  });
});
