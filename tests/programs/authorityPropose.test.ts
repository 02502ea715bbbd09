import { beforeEach, describe, expect, it } from '@jest/globals';
import { PublicKey } from '@solana/web3.js';
import { authorityAccept, authorityPropose } from '../../programs/client/index.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { addresses, createWorld, type World } from './support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const config = () => world.read('Config', addresses.config);
const propose = (pendingAuthority: PublicKey, authority = world.authority) =>
  authorityPropose({ authority: authority.publicKey, pendingAuthority });

describe('authority_propose', () => {
  it('records only the proposal, until another replaces it', async () => {
    const { authority, stranger, wallet } = world;
    const before = await config();
    let configSequence = 1n;
    for (const pendingAuthority of [stranger.publicKey, wallet.publicKey, PublicKey.default]) {
      configSequence += 1n;
      await expectEvent(world, [propose(pendingAuthority)], [authority], 'AuthorityProposed', {
        ...{ configSequence, authority: authority.publicKey, pendingAuthority },
      });
      expect(await config()).toEqual({ ...before, sequence: configSequence, pendingAuthority });
    }
  });

  it('can be withdrawn before it is accepted', async () => {
    const { chain, authority, stranger } = world;
    await chain.send([propose(stranger.publicKey), propose(PublicKey.default)], [authority]);
    const accept = authorityAccept({ pendingAuthority: stranger.publicKey });
    await expectRefusal(world, 'NoPendingAuthority', accept, [stranger]);
  });

  it('is refused to every key but the authority', async () => {
    for (const signer of [world.arbiter, world.operator, world.stranger]) {
      const own = propose(signer.publicKey, signer);
      await expectRefusal(world, 'Unauthorized', own, [signer]);
    }
  });

  it('refuses the arbiter as the proposed key', async () => {
    const { authority, arbiter } = world;
    await expectRefusal(world, 'ValueOutOfRange', propose(arbiter.publicKey), [authority]);
  });
});
