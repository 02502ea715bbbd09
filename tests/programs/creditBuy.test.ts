import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Keypair, PublicKey } from '@solana/web3.js';
import { creditBuy, pauseSet } from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEvent } from './support/emission.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { jobIn } from './support/jobs.ts';
import { withAccount } from './support/tampering.ts';
import { addresses, CREDITS, createWorld, SETTINGS, type World } from './support/world.ts';

const CREDITS_MAX = 10_000_000_000_000n;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

const account = () => world.read('CreditAccount', world.creditAccount);
const buy = (credits: bigint, from = world.walletTokens, buyer: Keypair = world.wallet) =>
  creditBuy({
    buyer: buyer.publicKey,
    buyerTokenAccount: from,
    wallet: world.wallet.publicKey,
    credits,
  });

describe('credit_buy', () => {
  it('moves 10,000 base units a credit into the vault, from any buyer [charging.credit-value]', async () => {
    const { chain, stranger, creditMint, wallet, creditAccount } = world;
    const tokens = world.token(creditMint, stranger.publicKey, 30_000n);
    await pass(world, 5n);
    const before = await account();
    await expectEvent(world, [buy(3n, tokens, stranger)], [stranger], 'CreditBought', {
      creditAccount,
      creditSequence: 3n,
      wallet: wallet.publicKey,
      buyer: stranger.publicKey,
      credits: 3n,
      availableCredits: CREDITS + 3n,
      lockedCredits: 0n,
    });
    expect(await chain.tokens(tokens)).toBe(0n);
    expect(await account()).toEqual({
      ...before,
      sequence: 3n,
      availableCredits: CREDITS + 3n,
      lastTopupAt: await chain.now(),
    });
  });

  it('adds up over several purchases', async () => {
    await world.chain.send([buy(1n)], [world.wallet]);
    await world.chain.send([buy(1n)], [world.wallet]);
    expect(await account()).toMatchObject({ sequence: 4n, availableCredits: CREDITS + 2n });
  });

  it('refuses zero, more than an account may hold, and numbers out of range', async () => {
    const { wallet } = world;
    const room = SETTINGS.creditAccountCreditsMax - CREDITS;
    for (const credits of [0n, CREDITS_MAX + 1n, 2n ** 64n - 1n]) {
      await expectRefusal(world, 'ValueOutOfRange', buy(credits), [wallet]);
    }
    await expectRefusal(world, 'CreditAccountFull', buy(CREDITS_MAX), [wallet]);
    await expectRefusal(world, 'CreditAccountFull', buy(room + 1n), [wallet]);
    await world.chain.send([buy(room)], [wallet]);
    await expectRefusal(world, 'CreditAccountFull', buy(1n), [wallet]);
  });

  it('fills an account up to the maximum', async () => {
    world = await createWorld({ creditAccountCreditsMax: CREDITS_MAX });
    const { creditMint, wallet } = world;
    const rest = CREDITS_MAX - CREDITS;
    const rich = world.token(creditMint, wallet.publicKey, rest * 10_000n);
    await world.chain.send([buy(rest, rich)], [wallet]);
    expect((await account()).availableCredits).toBe(CREDITS_MAX);
  });

  it('counts locked credits as held', async () => {
    await jobIn(world, 'pending');
    const room = SETTINGS.creditAccountCreditsMax - CREDITS;
    await expectRefusal(world, 'CreditAccountFull', buy(room + 1n), [world.wallet]);
  });

  it('refuses while deposits are paused', async () => {
    const { chain, authority, wallet } = world;
    const pause = { authority: authority.publicKey, depositsPaused: true, locksPaused: false };
    await chain.send([pauseSet(pause)], [authority]);
    await expectRefusal(world, 'DepositsPaused', buy(1n), [wallet]);
  });

  it('refuses token accounts that cannot pay', async () => {
    const { wallet, stranger, stakeMint, creditMint, chain } = world;
    const refused = (name: Parameters<typeof expectRefusal>[1], from: PublicKey) =>
      expectRefusal(world, name, buy(1n, from), [wallet]);
    await refused('DuplicateAccount', addresses.vault);
    await refused('WrongMint', world.token(stakeMint, wallet.publicKey, 10_000n));
    await refused('WrongTokenAccount', stranger.publicKey);
    const frozen = world.token(creditMint, wallet.publicKey);
    const token = { mint: creditMint, owner: wallet.publicKey, baseUnits: 10_000n };
    chain.setToken(frozen, { ...token, frozen: true });
    await refused('WrongTokenAccount', frozen);
    const foreign = world.token(creditMint, stranger.publicKey, 10_000n);
    // SPL Token's own refusal: OwnerMismatch
    await expect(chain.send([buy(1n, foreign)], [wallet])).rejects.toThrow('0x4');
    const poor = world.token(creditMint, wallet.publicKey, 9_999n);
    // SPL Token's own refusal: InsufficientFunds
    await expect(chain.send([buy(1n, poor)], [wallet])).rejects.toThrow('0x1');
  });

  it('refuses any destination but the vault', async () => {
    const { wallet, creditMint } = world;
    const own = world.token(creditMint, wallet.publicKey);
    for (const elsewhere of [addresses.treasuryVault, own]) {
      const instruction = withAccount(buy(1n), 'vault', elsewhere);
      await expectRefusal(world, 'WrongAddress', instruction, [wallet]);
    }
  });

  it('fails while the vault is frozen', async () => {
    const { chain, creditMint, wallet } = world;
    const owner = addresses.vaultAuthority;
    const baseUnits = await chain.tokens(addresses.vault);
    chain.setToken(addresses.vault, { mint: creditMint, owner, baseUnits, frozen: true });
    await expectRefusal(world, 'WrongTokenAccount', buy(1n), [wallet]);
  });
});
