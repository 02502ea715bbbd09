import { beforeAll, describe, expect, it } from '@jest/globals';

/** What a wallet of the wallet standard says that it can do, as far as the pages look at it. */
interface Abilities {
  readonly features: readonly string[];
  /** Those that it has for its account; by default all. */
  readonly accountFeatures?: readonly string[];
  readonly chains?: readonly string[];
  readonly transactionVersions?: readonly (string | number)[];
}

// By its name alone: what it says of browsers is checked with the console.
const MODULE = '../../console/wallet/obstacles.ts';
let obstacles: {
  textFeatureOf(wallet: object, account?: object): string | undefined;
  signInObstacle(wallet: object, account?: object): { what: string } | undefined;
  paymentObstacle(connection: object, chain: string): { what: string } | undefined;
};
beforeAll(async () => {
  obstacles = await import(MODULE);
});

const CHAIN = 'solana:localnet';
const CONNECT = 'standard:connect';
const TRANSACTIONS = 'solana:signTransaction';
const SIGN_IN = 'solana:signIn';

function connectionOf(abilities: Abilities) {
  const { features, accountFeatures = features, chains = [CHAIN] } = abilities;
  const supportedTransactionVersions = abilities.transactionVersions ?? ['legacy', 0];
  const ability = { supportedTransactionVersions, supportedMessageVersions: [1] };
  const wallet = {
    name: 'Wallet',
    features: Object.fromEntries(features.map((name) => [name, ability])),
  };
  return { wallet, account: { features: accountFeatures, chains } };
}

describe('a wallet', () => {
  it.each(['solana:signOffchainMessage', 'solana:signMessage', SIGN_IN])(
    'signs in when it signs texts by %s alone',
    (feature) => {
      const { wallet, account } = connectionOf({ features: [CONNECT, feature, TRANSACTIONS] });
      expect(obstacles.signInObstacle(wallet, account)).toBeUndefined();
      expect(obstacles.textFeatureOf(wallet, account)).toBe(feature);
    },
  );

  it.each<[string, Abilities]>([
    ['Wallet connects to no pages.', { features: [SIGN_IN] }],
    ['Wallet signs no texts, and a sign-in is one.', { features: [CONNECT, TRANSACTIONS] }],
    [
      'Wallet signs no texts with this account, and a sign-in is one.',
      { features: [CONNECT, SIGN_IN, TRANSACTIONS], accountFeatures: [] },
    ],
  ])('does not sign in, and the page says why: %s', (words, abilities) => {
    const { wallet, account } = connectionOf(abilities);
    expect(obstacles.signInObstacle(wallet, account)?.what).toBe(words);
  });

  const features = [CONNECT, SIGN_IN, TRANSACTIONS];
  it.each<[string, Abilities]>([
    ['Wallet signs no transactions.', { features: [CONNECT, SIGN_IN] }],
    [
      'Wallet signs no transactions with this account.',
      { features, accountFeatures: ['solana:signMessage'] },
    ],
    [`Wallet signs nothing for this ledger, ${CHAIN}.`, { features, chains: ['solana:mainnet'] }],
    ['Wallet signs no transactions of the legacy version.', { features, transactionVersions: [0] }],
  ])('is not asked to pay, and the page says why: %s', (words, abilities) => {
    expect(obstacles.paymentObstacle(connectionOf(abilities), CHAIN)?.what).toBe(words);
  });

  it('pays when it signs transactions of this ledger', () => {
    expect(obstacles.paymentObstacle(connectionOf({ features }), CHAIN)).toBeUndefined();
  });
});
