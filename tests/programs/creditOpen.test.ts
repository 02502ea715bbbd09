import { beforeEach, describe, expect, it } from '@jest/globals';
import { SystemProgram } from '@solana/web3.js';
import * as generated from '../../programs/client/generated/instructions.ts';
import { ACCOUNT_VERSION, creditOpen } from '../../programs/client/index.ts';
import { NO_SPENDER } from '../../testing/kit/setUp.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { withAccount } from './support/tampering.ts';
import { addresses, createWorld, type World } from './support/world.ts';

const LIMITS = { limitPerJobCredits: 400n, limitPerDayCredits: 4_000n };

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

describe('credit_open', () => {
  it('opens an account without spender or limits, once, by any payer', async () => {
    const { chain, stranger, wallet } = world;
    const owner = (await world.person()).publicKey;
    const creditAccount = addresses.creditAccount(owner);
    await expectEvent(
      world,
      [creditOpen({ payer: wallet.publicKey, wallet: owner })],
      [wallet],
      'CreditOpened',
      { creditAccount, creditSequence: 1n, wallet: owner, ...NO_SPENDER },
    );
    expect(await world.read('CreditAccount', creditAccount)).toMatchObject({
      version: ACCOUNT_VERSION,
      sequence: 1n,
      wallet: owner,
      ...NO_SPENDER,
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
    const owner = await world.person();
    const open = creditOpen({
      payer: stranger.publicKey,
      wallet: owner.publicKey,
      spender: gateway,
      ...LIMITS,
    });
    const unsigned = withAccount(open, 'wallet', owner.publicKey);
    for (const key of unsigned.keys) if (key.pubkey.equals(owner.publicKey)) key.isSigner = false;
    await expectRefusal(world, 'MissingSigner', unsigned, [stranger]);
    await expectEvent(world, [open], [stranger, owner], 'CreditOpened', {
      creditAccount: addresses.creditAccount(owner.publicKey),
      creditSequence: 1n,
      wallet: owner.publicKey,
      spender: gateway,
      ...LIMITS,
    });
    expect(
      await world.read('CreditAccount', addresses.creditAccount(owner.publicKey)),
    ).toMatchObject({ spender: gateway, ...LIMITS });
  });

  it('refuses limits without a spender', async () => {
    const { stranger } = world;
    const owner = await world.person();
    for (const limits of [{ limitPerJobCredits: 1n }, { limitPerDayCredits: 1n }]) {
      const open = generated.creditOpen({
        payer: stranger.publicKey,
        wallet: owner.publicKey,
        ...{ ...NO_SPENDER, ...limits },
      });
      await expectRefusal(world, 'ValueOutOfRange', open, [stranger]);
    }
  });

  it('refuses another wallet’s address', async () => {
    const { stranger } = world;
    const [one, other] = [(await world.person()).publicKey, (await world.person()).publicKey];
    const open = creditOpen({ payer: stranger.publicKey, wallet: one });
    const elsewhere = withAccount(open, 'credit_account', addresses.creditAccount(other));
    await expectRefusal(world, 'WrongAddress', elsewhere, [stranger]);
  });

  it.each([1, 1_000_000, 1_000_000_000])(
    'works when its address already holds %i lamports',
    async (lamports) => {
      const { chain, stranger } = world;
      const owner = (await world.person()).publicKey;
      const address = addresses.creditAccount(owner);
      const data = new Uint8Array();
      const empty = { lamports, data, owner: SystemProgram.programId, executable: false };
      chain.setAccount(address, empty);
      await chain.send([creditOpen({ payer: stranger.publicKey, wallet: owner })], [stranger]);
      expect((await world.read('CreditAccount', address)).wallet).toEqual(owner);
    },
  );
});
