import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { creditOpen, creditWithdraw, pauseSet } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal } from './support/expectations.ts';
import { jobIn } from './support/jobs.ts';
import { expectPayeesRefused } from './support/payees.ts';
import { withAccount } from './support/tampering.ts';
import { addresses, CREDITS, createWorld, type World } from './support/world.ts';

const CREDITS_MAX = 10_000_000_000_000n;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

const account = () => world.read('CreditAccount', world.creditAccount);
const withdraw = (credits: bigint, destination = world.walletTokens, owner = world.wallet) =>
  withAccount(
    creditWithdraw({ wallet: owner.publicKey, destination, credits }),
    'credit_account',
    world.creditAccount,
  );

describe('credit_withdraw', () => {
  it('pays out available credits but no locked ones', async () => {
    const { chain, wallet, walletTokens, creditAccount } = world;
    await jobIn(world, 'pending');
    const before = await account();
    const held = await chain.tokens(walletTokens);
    await expectRefusal(world, 'InsufficientCredits', withdraw(CREDITS - 7n), [wallet]);
    await expectEvent(world, [withdraw(CREDITS - 8n)], [wallet], 'CreditWithdrawn', {
      creditAccount,
      creditSequence: 4n,
      wallet: wallet.publicKey,
      destination: walletTokens,
      credits: CREDITS - 8n,
      availableCredits: 0n,
      lockedCredits: 8n,
    });
    expect(await chain.tokens(walletTokens)).toBe(held + (CREDITS - 8n) * 10_000n);
    expect(await account()).toEqual({ ...before, sequence: 4n, availableCredits: 0n });
    await expectRefusal(world, 'InsufficientCredits', withdraw(1n), [wallet]);
  });

  it('pays out one credit, and all of them', async () => {
    const { chain, wallet } = world;
    await chain.send([withdraw(1n)], [wallet]);
    await chain.send([withdraw(CREDITS - 1n)], [wallet]);
    expect((await account()).availableCredits).toBe(0n);
    expect(await chain.tokens(addresses.vault)).toBe(0n);
  });

  it('requires the wallet’s signature [charging.no-withdrawal-by-key]', async () => {
    for (const signer of [world.stranger, world.hotSigner, world.authority, world.arbiter]) {
      const theft = withdraw(1n, world.walletTokens, signer);
      await expectRefusal(world, 'Unauthorized', theft, [signer]);
    }
  });

  it('refuses another wallet’s account', async () => {
    const { chain, stranger } = world;
    const open = creditOpen({ payer: stranger.publicKey, wallet: stranger.publicKey });
    await chain.send([open], [stranger]);
    const own = { wallet: stranger.publicKey, destination: world.walletTokens, credits: 1n };
    await expectRefusal(world, 'InsufficientCredits', creditWithdraw(own), [stranger]);
  });

  it('refuses numbers out of range and unusable destinations', async () => {
    const { wallet } = world;
    for (const credits of [0n, CREDITS_MAX + 1n, 2n ** 64n - 1n]) {
      await expectRefusal(world, 'ValueOutOfRange', withdraw(credits), [wallet]);
    }
    await expectRefusal(world, 'InsufficientCredits', withdraw(CREDITS_MAX), [wallet]);
    await expectPayeesRefused(world, ({ payout }) => withdraw(1n, payout), wallet);
  });

  it('pays only from the vault', async () => {
    const treasury = withAccount(withdraw(1n), 'vault', addresses.treasuryVault);
    await expectRefusal(world, 'WrongAddress', treasury, [world.wallet]);
  });

  it('cannot be paused', async () => {
    const { chain, authority, wallet } = world;
    const pause = { authority: authority.publicKey, depositsPaused: true, locksPaused: true };
    await chain.send([pauseSet(pause)], [authority]);
    await chain.send([withdraw(1n)], [wallet]);
  });
});
