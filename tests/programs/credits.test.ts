import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Keypair, PublicKey } from '@solana/web3.js';
import {
  creditBuy,
  creditOpen,
  creditWithdraw,
  limitSet,
  pauseSet,
  spenderSet,
} from '../../programs/client/index.ts';
import { expectConserved } from './support/conservation.ts';
import { expectRefusal, pass } from './support/expectations.ts';
import { jobIn } from './support/jobs.ts';
import { withAccount } from './support/tampering.ts';
import { addresses, CREDITS, createWorld, SETTINGS, type World } from './support/world.ts';

const NO_LIMIT = 2n ** 64n - 1n;

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => expectConserved(world));

const account = () => world.read('CreditAccount', world.creditAccount);

describe('credit_open', () => {
  it('opens an account without spender and limits at anybody’s cost', async () => {
    const { chain, stranger, wallet } = world;
    const somebody = world.person();
    const open = creditOpen({ payer: wallet.publicKey, wallet: somebody.publicKey });
    await chain.send([open], [wallet]);
    const opened = addresses.creditAccount(somebody.publicKey);
    expect(await world.read('CreditAccount', opened)).toMatchObject({
      version: 1,
      sequence: 1n,
      wallet: somebody.publicKey,
      spender: PublicKey.default,
      limitPerJobCredits: NO_LIMIT,
      limitPerDayCredits: NO_LIMIT,
      availableCredits: 0n,
      lockedCredits: 0n,
      owedCredits: 0n,
      openedAt: await chain.now(),
      lastTopupAt: 0n,
    });
    const again = creditOpen({ payer: stranger.publicKey, wallet: somebody.publicKey });
    await expectRefusal(world, 'AlreadyInitialized', again, [stranger]);
  });

  it('names a spender only with the wallet’s signature', async () => {
    const { stranger, gateway } = world;
    const somebody = world.person();
    const named = creditOpen({
      payer: stranger.publicKey,
      wallet: somebody.publicKey,
      spender: gateway,
    });
    await world.chain.send([named], [stranger, somebody]);
    const other = world.person();
    const open = creditOpen({
      payer: stranger.publicKey,
      wallet: other.publicKey,
      spender: gateway,
    });
    for (const key of open.keys) if (key.pubkey.equals(other.publicKey)) key.isSigner = false;
    await expectRefusal(world, 'MissingSigner', open, [stranger]);
  });
});

describe('credit_buy', () => {
  const buy = (credits: bigint, from = world.walletTokens, buyer: Keypair = world.wallet) =>
    creditBuy({
      buyer: buyer.publicKey,
      buyerTokenAccount: from,
      wallet: world.wallet.publicKey,
      credits,
    });

  it('moves 10,000 base units a credit into the vault, whoever pays', async () => {
    const { chain, stranger, creditMint } = world;
    const tokens = world.token(creditMint, stranger.publicKey, 30_000n);
    await pass(world, 5n);
    await chain.send([buy(3n, tokens, stranger)], [stranger]);
    expect(await chain.tokens(tokens)).toBe(0n);
    expect(await account()).toMatchObject({
      availableCredits: CREDITS + 3n,
      lastTopupAt: await chain.now(),
    });
  });

  it('refuses nothing, more than an account may hold, and numbers out of range', async () => {
    const { wallet } = world;
    const room = SETTINGS.creditAccountCreditsMax - CREDITS;
    for (const credits of [0n, 10_000_000_000_001n, NO_LIMIT]) {
      await expectRefusal(world, 'ValueOutOfRange', buy(credits), [wallet]);
    }
    await expectRefusal(world, 'CreditAccountFull', buy(room + 1n), [wallet]);
    await world.chain.send([buy(room)], [wallet]);
    await expectRefusal(world, 'CreditAccountFull', buy(1n), [wallet]);
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

  it('sells nothing while the vault is frozen', async () => {
    const { chain, creditMint, wallet } = world;
    const owner = addresses.vaultAuthority;
    const baseUnits = await chain.tokens(addresses.vault);
    chain.setToken(addresses.vault, { mint: creditMint, owner, baseUnits, frozen: true });
    await expectRefusal(world, 'WrongTokenAccount', buy(1n), [wallet]);
  });
});

describe('credit_withdraw', () => {
  const withdraw = (credits: bigint, destination = world.walletTokens, owner = world.wallet) =>
    withAccount(
      creditWithdraw({ wallet: owner.publicKey, destination, credits }),
      'credit_account',
      world.creditAccount,
    );

  it('pays out available credits, and none that are locked', async () => {
    const { chain, wallet, walletTokens } = world;
    await jobIn(world, 'pending');
    const before = await chain.tokens(walletTokens);
    await expectRefusal(world, 'InsufficientCredits', withdraw(CREDITS - 7n), [wallet]);
    await chain.send([withdraw(CREDITS - 8n)], [wallet]);
    expect(await chain.tokens(walletTokens)).toBe(before + (CREDITS - 8n) * 10_000n);
    expect(await account()).toMatchObject({ availableCredits: 0n, lockedCredits: 8n });
  });

  it('is the wallet’s alone', async () => {
    for (const signer of [world.stranger, world.hotSigner]) {
      const theft = withdraw(1n, world.walletTokens, signer);
      await expectRefusal(world, 'Unauthorized', theft, [signer]);
    }
  });

  it('refuses numbers out of range and destinations that cannot be paid', async () => {
    const { wallet, stakeMint, creditMint } = world;
    await expectRefusal(world, 'ValueOutOfRange', withdraw(0n), [wallet]);
    await expectRefusal(world, 'ValueOutOfRange', withdraw(NO_LIMIT), [wallet]);
    const refused = (name: Parameters<typeof expectRefusal>[1], to: PublicKey) =>
      expectRefusal(world, name, withdraw(1n, to), [wallet]);
    await refused('DuplicateAccount', addresses.vault);
    await refused('DuplicateAccount', addresses.treasuryVault);
    await refused('WrongMint', world.token(stakeMint, wallet.publicKey));
    await refused('WrongTokenAccount', creditMint);
  });

  it('cannot be paused', async () => {
    const { chain, authority, wallet } = world;
    const pause = { authority: authority.publicKey, depositsPaused: true, locksPaused: true };
    await chain.send([pauseSet(pause)], [authority]);
    await chain.send([withdraw(1n)], [wallet]);
  });
});

describe('spender_set and limit_set', () => {
  const byOwner = (owner: Keypair) => [
    withAccount(
      spenderSet({ wallet: owner.publicKey, spender: world.stranger.publicKey }),
      'credit_account',
      world.creditAccount,
    ),
    withAccount(
      limitSet({ wallet: owner.publicKey, limitPerJobCredits: 1n, limitPerDayCredits: 2n }),
      'credit_account',
      world.creditAccount,
    ),
  ];

  it('change what the wallet decides', async () => {
    const { sequence } = await account();
    await world.chain.send(byOwner(world.wallet), [world.wallet]);
    expect(await account()).toMatchObject({
      sequence: sequence + 2n,
      spender: world.stranger.publicKey,
      limitPerJobCredits: 1n,
      limitPerDayCredits: 2n,
    });
  });

  it('refuse everybody else', async () => {
    for (const instruction of byOwner(world.stranger)) {
      await expectRefusal(world, 'Unauthorized', instruction, [world.stranger]);
    }
  });
});
