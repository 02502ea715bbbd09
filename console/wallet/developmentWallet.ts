import { base64 } from '@scure/base';
import type {
  SolanaSignMessageFeature,
  SolanaSignTransactionFeature,
} from '@solana/wallet-standard-features';
import { getWallets } from '@wallet-standard/app';
import type { Wallet, WalletAccount } from '@wallet-standard/base';
import type {
  StandardConnectFeature,
  StandardEventsFeature,
  StandardEventsListeners,
} from '@wallet-standard/features';
import type { DevelopmentAccounts, DevelopmentSigned } from '../../api/contracts/session.ts';
import { createStore, storage } from '../data/browserStore.ts';
import icon from '../design/icon.svg';

/** An account of the development ledger, by its role there. */
type DevelopmentAccount = DevelopmentAccounts['accounts'][number];

/** What the user of the development wallet is asked. */
export type DevelopmentQuestion =
  | {
      readonly kind: 'account';
      readonly accounts: readonly DevelopmentAccount[];
      readonly answer: (account: DevelopmentAccount | undefined) => void;
    }
  | {
      readonly kind: 'message' | 'transaction';
      readonly account: string;
      /** The message, where it is a text. */
      readonly text: string;
      readonly answer: (isAllowed: boolean) => void;
    };

export const developmentQuestion = createStore<DevelopmentQuestion | undefined>(undefined);

const NAME = 'Development wallet';
const CHOSEN = 'svc.developmentAccount';
const CHAINS = ['solana:mainnet', 'solana:devnet', 'solana:testnet', 'solana:localnet'] as const;

function askAccount(
  accounts: readonly DevelopmentAccount[],
): Promise<DevelopmentAccount | undefined> {
  return new Promise((resolve) => {
    const answer = (account: DevelopmentAccount | undefined) => {
      developmentQuestion.set(undefined);
      resolve(account);
    };
    developmentQuestion.set({ kind: 'account', accounts, answer });
  });
}

/** @throws Error when the user declines */
function askSignature(
  kind: 'message' | 'transaction',
  account: string,
  text: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const answer = (isAllowed: boolean) => {
      developmentQuestion.set(undefined);
      if (isAllowed) resolve();
      else reject(new Error('You declined in the development wallet.'));
    };
    developmentQuestion.set({ kind, account, text, answer });
  });
}

type Features = StandardConnectFeature &
  StandardEventsFeature &
  SolanaSignMessageFeature &
  SolanaSignTransactionFeature;

/** Registers the stack's wallet as one of the wallet standard. It asks before each signature. */
export function registerDevelopmentWallet(url: string, chain: string): void {
  const chains = [...CHAINS, chain as `solana:${string}`];
  let connected: readonly WalletAccount[] = [];
  const listeners = new Set<StandardEventsListeners['change']>();
  const features: Features = {
    'standard:connect': {
      version: '1.0.0',
      async connect({ silent = false } = {}) {
        const account = await choose(url, silent);
        if (account) {
          storage.set(CHOSEN, account.address);
          connected = [walletAccount(account, chains)];
          for (const listener of listeners) listener({ accounts: connected });
        }
        return { accounts: account ? connected : [] };
      },
    },
    'standard:events': {
      version: '1.0.0',
      on: (_event, listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    ...signing(url),
  };
  getWallets().register({
    version: '1.0.0',
    name: `${NAME} (DEVELOPMENT)`,
    icon: icon as Wallet['icon'],
    chains,
    features,
    get accounts() {
      return connected;
    },
  });
}

function walletAccount(
  { name, address }: DevelopmentAccount,
  chains: WalletAccount['chains'],
): WalletAccount {
  return {
    address,
    chains,
    label: name,
    publicKey: new Uint8Array(),
    features: ['solana:signMessage', 'solana:signTransaction'],
  };
}

/** @param silent takes the account that was chosen before, without a question */
async function choose(url: string, silent: boolean): Promise<DevelopmentAccount | undefined> {
  const { accounts } = (await call(`${url}/accounts`)) as DevelopmentAccounts;
  if (!silent) return askAccount(accounts);
  const chosen = storage.get(CHOSEN);
  return accounts.find(({ address }) => address === chosen);
}

function signing(url: string): SolanaSignMessageFeature & SolanaSignTransactionFeature {
  const sign = async (address: string, kind: 'message' | 'transaction', bytes: Uint8Array) => {
    const body = { address, kind, bytes: base64.encode(bytes) };
    const { signed } = (await call(`${url}/sign`, body)) as DevelopmentSigned;
    return base64.decode(signed);
  };
  return {
    'solana:signMessage': {
      version: '1.1.0',
      signMessage: async (...inputs) =>
        Promise.all(
          inputs.map(async ({ account: { address }, message }) => {
            await askSignature('message', address, new TextDecoder().decode(message));
            const signature = await sign(address, 'message', message);
            return { signedMessage: message, signature };
          }),
        ),
    },
    'solana:signTransaction': {
      version: '1.0.0',
      supportedTransactionVersions: ['legacy', 0],
      signTransaction: async (...inputs) =>
        Promise.all(
          inputs.map(async ({ account: { address }, transaction }) => {
            await askSignature('transaction', address, '');
            return { signedTransaction: await sign(address, 'transaction', transaction) };
          }),
        ),
    },
  };
}

async function call(address: string, body?: object): Promise<unknown> {
  const response = await fetch(address, {
    method: body ? 'POST' : 'GET',
    ...(body && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  });
  if (!response.ok) throw new Error(`The development wallet answers ${response.status}.`);
  return response.json();
}
