import {
  SolanaSignIn,
  SolanaSignMessage,
  SolanaSignOffchainMessage,
  SolanaSignTransaction,
} from '@solana/wallet-standard-features';
import type { Wallet, WalletAccount } from '@wallet-standard/base';
import { StandardConnect } from '@wallet-standard/features';
import { type Connection, featuresOf } from './wallets.ts';

/** Why a wallet cannot do something, and what its owner can do about it. */
export interface Obstacle {
  readonly what: string;
  readonly remedy: string;
}

const ANOTHER = 'Choose another wallet that holds the account, or update this one.';
/** The version of off-chain messages that we ask for. */
const OFFCHAIN_VERSION = 1;

/**
 * How a wallet signs a text for an account. The envelope comes before the bare text, which a device
 * would refuse to sign.
 *
 * @param account undefined until its owner has chosen one
 */
export function textFeatureOf(wallet: Wallet, account?: WalletAccount) {
  const features = featuresOf(wallet);
  const isOf = (name: WalletAccount['features'][number]) =>
    name in features && (account === undefined || account.features.includes(name));
  // Wallets leave it out of what an account can do, since it is asked without one.
  const canSign = account?.features.some((name) => name.startsWith('solana:sign')) ?? true;
  if (SolanaSignIn in features && canSign) return SolanaSignIn;
  const { supportedMessageVersions = [] } = features[SolanaSignOffchainMessage] ?? {};
  if (isOf(SolanaSignOffchainMessage) && supportedMessageVersions.includes(OFFCHAIN_VERSION)) {
    return SolanaSignOffchainMessage;
  }
  return isOf(SolanaSignMessage) ? SolanaSignMessage : undefined;
}

/** What keeps a wallet, or its account, from signing in. */
export function signInObstacle(wallet: Wallet, account?: WalletAccount): Obstacle | undefined {
  const { name } = wallet;
  if (!(StandardConnect in wallet.features)) {
    return {
      what: `${name} connects to no pages.`,
      remedy: 'Update it, or choose another wallet.',
    };
  }
  if (textFeatureOf(wallet, account) !== undefined) return undefined;
  return account !== undefined && textFeatureOf(wallet) !== undefined
    ? ofAccount(`${name} signs no texts with this account, and a sign-in is one.`)
    : { what: `${name} signs no texts, and a sign-in is one.`, remedy: ANOTHER };
}

/** What keeps a connected account from signing transactions of this ledger. */
export function paymentObstacle(
  { wallet, account }: Connection,
  chain: string,
): Obstacle | undefined {
  const { name } = wallet;
  const feature = featuresOf(wallet)[SolanaSignTransaction];
  if (feature === undefined) return { what: `${name} signs no transactions.`, remedy: ANOTHER };
  if (!account.features.includes(SolanaSignTransaction)) {
    return ofAccount(`${name} signs no transactions with this account.`);
  }
  if (!feature.supportedTransactionVersions.includes('legacy')) {
    return { what: `${name} signs no transactions of the legacy version.`, remedy: ANOTHER };
  }
  if (!account.chains.includes(chain as `solana:${string}`)) {
    return {
      what: `${name} signs nothing for this ledger, ${chain}.`,
      remedy: 'Switch its network, or choose another wallet that holds the account.',
    };
  }
  return undefined;
}

/** An account that the wallet only watches, or whose device has an old app. */
function ofAccount(what: string): Obstacle {
  return { what, remedy: 'Choose the wallet that holds its key, and update it and the device.' };
}
