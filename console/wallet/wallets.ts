import {
  type SolanaSignInFeature,
  type SolanaSignMessageFeature,
  type SolanaSignOffchainMessageFeature,
  SolanaSignTransaction,
  type SolanaSignTransactionFeature,
} from '@solana/wallet-standard-features';
import { getWallets } from '@wallet-standard/app';
import type { Wallet, WalletAccount } from '@wallet-standard/base';
import {
  StandardConnect,
  type StandardConnectFeature,
  StandardEvents,
  type StandardEventsFeature,
} from '@wallet-standard/features';
import { createStore, storage, useStore } from '../data/browserStore.ts';

/** What a wallet may be able to do for us. */
type Features = Partial<
  StandardConnectFeature &
    StandardEventsFeature &
    SolanaSignInFeature &
    SolanaSignMessageFeature &
    SolanaSignOffchainMessageFeature &
    SolanaSignTransactionFeature
>;

/** A wallet with the account that its owner chose. */
export interface Connection {
  readonly wallet: Wallet;
  readonly account: WalletAccount;
}

const store = createStore<readonly Wallet[]>([]);
const connection = createStore<Connection | undefined>(undefined);
const CHOSEN = 'svc.wallet';

export const featuresOf = (wallet: Wallet) => wallet.features as Features;

/** A wallet for several ledgers lists accounts of the others too. */
const isOfSolana = ({ chains }: Pick<Wallet | WalletAccount, 'chains'>): boolean =>
  chains.some((one) => one.startsWith('solana:'));

/** Watches for wallets, and reconnects the one used last without asking its owner. */
export function watchWallets(): void {
  const registry = getWallets();
  const refresh = () => {
    store.set(registry.get().filter(isOfSolana));
    void reconnect();
  };
  registry.on('register', refresh);
  registry.on('unregister', refresh);
  refresh();
  // The owner has chosen one in another tab.
  addEventListener('storage', ({ key }) => {
    if (key !== CHOSEN) return;
    hasReconnected = false;
    void reconnect();
  });
}

let hasReconnected = false;

async function reconnect(): Promise<void> {
  const chosen = storage.get(CHOSEN);
  const wallet = store.get().find(({ name }) => name === chosen);
  if (hasReconnected || wallet === undefined || connection.get()) return;
  hasReconnected = true;
  try {
    await connect(wallet, { silent: true });
  } catch {
    // Its owner is asked when a signature is needed.
  }
}

export const useWallets = () => useStore(store);
export const useConnection = () => useStore(connection);

/**
 * Asks a wallet for its account.
 *
 * @throws Error when it gives none
 */
export async function connect(
  wallet: Wallet,
  { silent = false }: { readonly silent?: boolean } = {},
): Promise<Connection> {
  const features = featuresOf(wallet);
  const { accounts } = (await features[StandardConnect]?.connect({ silent })) ?? wallet;
  const account = accounts.find(isOfSolana);
  if (account === undefined) {
    throw new Error(
      `${wallet.name} shares no Solana account with this page. Unlock it, make an account, and allow it here.`,
    );
  }
  const made = { wallet, account };
  connection.set(made);
  storage.set(CHOSEN, wallet.name);
  follow(wallet);
  return made;
}

const followed = new WeakSet<Wallet>();

/** Its owner may switch to another account, or end the connection, at any time. */
function follow(wallet: Wallet): void {
  if (followed.has(wallet)) return;
  followed.add(wallet);
  featuresOf(wallet)[StandardEvents]?.on('change', ({ accounts }) => {
    if (accounts === undefined || connection.get()?.wallet !== wallet) return;
    const account = accounts.find(isOfSolana);
    connection.set(account && { wallet, account });
  });
}

/** @returns the wire form of the transaction, signed @throws Error when the owner declines */
export async function signTransaction(
  { wallet, account }: Connection,
  { transaction, chain }: { readonly transaction: Uint8Array; readonly chain: string },
): Promise<Uint8Array> {
  const feature = featuresOf(wallet)[SolanaSignTransaction];
  if (feature === undefined) throw new Error(`${wallet.name} cannot sign transactions.`);
  const [output] = await feature.signTransaction({
    account,
    transaction,
    chain: chain as `solana:${string}`,
  });
  if (output === undefined) throw new Error(`${wallet.name} returned no transaction.`);
  return output.signedTransaction;
}
