import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PublicKey } from '@solana/web3.js';
import {
  creditBuy,
  creditOpen,
  creditWithdraw,
  limitSet,
  spenderSet,
} from '../../programs/client/index.ts';
import { NO_SPENDER } from '../../testing/kit/setUp.ts';
import { expectConserved } from './support/conservation.ts';
import { expectEffect } from './support/emission.ts';
import { pass } from './support/expectations.ts';
import { freshWorld } from './support/freshWorld.ts';
import { jobIn } from './support/jobs.ts';
import { addresses, CREDITS, type World } from './support/world.ts';

const NO_LIMIT = 2n ** 64n - 1n;
const LIMITS = { limitPerJobCredits: 400n, limitPerDayCredits: 4_000n };

let world: World;
beforeEach(async () => {
  world = await freshWorld();
});
afterEach(() => expectConserved(world));

// What they refuse: support/refusals/accounts.ts, and accounts.test.ts.
describe('credit_open', () => {
  it.each([
    ['without a spender, by any payer', false],
    ['with a spender and limits, by its wallet', true],
  ])('opens an account %s', async (_, isNamed) => {
    const { stranger, gateway } = world;
    const wallet = (await world.person()).publicKey;
    const spender = isNamed ? { spender: gateway, ...LIMITS } : NO_SPENDER;
    const open = creditOpen({ payer: stranger.publicKey, wallet, ...(isNamed && spender) });
    const creditAccount = addresses.creditAccount(wallet);
    await expectEffect({ ...world, creditAccount }, open, 'CreditOpened', {
      creditAccount: {
        wallet,
        ...spender,
        spentDay: 0,
        spentTodayCredits: 0n,
        availableCredits: 0n,
        lockedCredits: 0n,
        owedCredits: 0n,
        openDisputes: 0,
        openedAt: await world.chain.now(),
        lastTopupAt: 0n,
        reserved: new Uint8Array(64),
      },
    });
  });
});

describe('credit_buy', () => {
  it('moves 10,000 base units a credit into the vault, from any buyer [charging.credit-value]', async () => {
    const { chain, stranger, creditMint, wallet } = world;
    const buyer = stranger.publicKey;
    const buyerTokenAccount = world.token(creditMint, buyer, 30_000n);
    await pass(world, 5n);
    const buy = creditBuy({ buyer, buyerTokenAccount, wallet: wallet.publicKey, credits: 3n });
    await expectEffect(world, buy, 'CreditBought', {
      creditAccount: { availableCredits: CREDITS + 3n, lastTopupAt: await chain.now() },
      said: { buyer, credits: 3n },
    });
    expect(await chain.tokens(buyerTokenAccount)).toBe(0n);
  });
});

describe('credit_withdraw', () => {
  it('pays out available credits, and leaves the locked ones', async () => {
    const { chain, wallet, walletTokens: destination } = world;
    await jobIn(world, 'pending');
    const held = await chain.tokens(destination);
    const credits = CREDITS - 8n;
    const withdraw = creditWithdraw({ wallet: wallet.publicKey, destination, credits });
    await expectEffect(world, withdraw, 'CreditWithdrawn', {
      creditAccount: { availableCredits: 0n },
      said: { destination, credits },
    });
    expect(await chain.tokens(destination)).toBe(held + credits * 10_000n);
  });
});

describe('spender_set', () => {
  it('sets, replaces and removes a spender with limits, with credits locked', async () => {
    const { wallet, stranger } = world;
    await jobIn(world, 'pending');
    for (const named of [
      { spender: stranger.publicKey, ...LIMITS },
      { spender: stranger.publicKey, ...LIMITS, limitPerJobCredits: NO_LIMIT },
      { ...NO_SPENDER, spender: PublicKey.default },
    ]) {
      const set = spenderSet({ wallet: wallet.publicKey, ...named });
      await expectEffect(world, set, 'SpenderSet', { creditAccount: named });
    }
  });
});

describe('limit_set', () => {
  it.each([
    [0n, 0n],
    [1n, 2n],
    [NO_LIMIT, NO_LIMIT - 1n],
  ])('records the limits %i per job and %i per day', async (perJob, perDay) => {
    const limits = { limitPerJobCredits: perJob, limitPerDayCredits: perDay };
    const set = limitSet({ wallet: world.wallet.publicKey, ...limits });
    await expectEffect(world, set, 'LimitSet', { creditAccount: limits });
  });
});
