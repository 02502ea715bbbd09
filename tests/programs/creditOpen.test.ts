import { beforeEach, describe, expect, it } from '@jest/globals';
import { PublicKey, SystemProgram } from '@solana/web3.js';
import { creditOpen } from '../../programs/client/index.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { withAccount } from './support/tampering.ts';
import { addresses, createWorld, type World } from './support/world.ts';

const NO_LIMIT = 2n ** 64n - 1n;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

describe('credit_open', () => {
  it("opens an account without spender and limits, once and at any payer's cost", async () => {
    const { chain, stranger, wallet } = world;
    const owner = world.person().publicKey;
    const creditAccount = addresses.creditAccount(owner);
    await expectEvent(
      world,
      [creditOpen({ payer: wallet.publicKey, wallet: owner })],
      [wallet],
      'CreditOpened',
      { creditAccount, creditSequence: 1n, wallet: owner, spender: PublicKey.default },
    );
    expect(await world.read('CreditAccount', creditAccount)).toMatchObject({
      version: 1,
      sequence: 1n,
      wallet: owner,
      spender: PublicKey.default,
      limitPerJobCredits: NO_LIMIT,
      limitPerDayCredits: NO_LIMIT,
      spentDay: 0,
      spentTodayCredits: 0n,
      availableCredits: 0n,
      lockedCredits: 0n,
      owedCredits: 0n,
      openDisputes: 0,
      openedAt: await chain.now(),
      lastTopupAt: 0n,
      reserved: new Uint8Array(64),
    });
    const again = creditOpen({ payer: stranger.publicKey, wallet: owner });
    await expectRefusal(world, 'AlreadyInitialized', again, [stranger]);
  });

  it('requires the wallet’s signature to name a spender', async () => {
    const { stranger, gateway } = world;
    const owner = world.person();
    const open = creditOpen({
      payer: stranger.publicKey,
      wallet: owner.publicKey,
      spender: gateway,
    });
    const unsigned = withAccount(open, 'wallet', owner.publicKey);
    for (const key of unsigned.keys) if (key.pubkey.equals(owner.publicKey)) key.isSigner = false;
    await expectRefusal(world, 'MissingSigner', unsigned, [stranger]);
    await expectEvent(world, [open], [stranger, owner], 'CreditOpened', {
      creditAccount: addresses.creditAccount(owner.publicKey),
      creditSequence: 1n,
      wallet: owner.publicKey,
      spender: gateway,
    });
  });

  it('refuses another wallet’s address', async () => {
    const { stranger } = world;
    const [one, other] = [world.person().publicKey, world.person().publicKey];
    const open = creditOpen({ payer: stranger.publicKey, wallet: one });
    const elsewhere = withAccount(open, 'credit_account', addresses.creditAccount(other));
    await expectRefusal(world, 'WrongAddress', elsewhere, [stranger]);
  });

  it.each([1, 1_000_000, 1_000_000_000])(
    'works when its address already holds %i lamports',
    async (lamports) => {
      const { chain, stranger } = world;
      const owner = world.person().publicKey;
      const address = addresses.creditAccount(owner);
      const data = new Uint8Array();
      const empty = { lamports, data, owner: SystemProgram.programId, executable: false };
      chain.setAccount(address, empty);
      await chain.send([creditOpen({ payer: stranger.publicKey, wallet: owner })], [stranger]);
      expect((await world.read('CreditAccount', address)).wallet).toEqual(owner);
    },
  );
});
