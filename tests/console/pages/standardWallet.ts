import type { BrowserContext, Page } from 'playwright-core';
import type { PageScene } from './pageScene.ts';
import { type Asked, openStackKeys } from './stackKeys.ts';

/** Decides what the wallet returns, in base64. It declines by throwing. */
type Answer = (asked: Asked) => Promise<string>;

/**
 * A wallet of the wallet standard in every page of a context, which has `solana:signIn` and does as a
 * test says. By default it signs, with the keys of the stack's own accounts.
 */
export interface StandardWallet {
  readonly name: string;
  /** Of the stack's account with this name. */
  addressOf(account: string): string;
  /** All that pages asked it to sign so far. */
  readonly asked: Asked[];
  answer: Answer;
  readonly sign: Answer;
  /** Its owner switches to another account of the stack, and the page gets an event. */
  switchTo(page: Page, account: string): Promise<void>;
}

export const DECLINED = 'User rejected the request.';

export async function decline(): Promise<never> {
  throw new Error(DECLINED);
}

const ABLE = ['solana:signIn', 'solana:signTransaction'];

/**
 * @param account the account of the stack that it holds first
 * @param features what it and its account can do, besides what the standard itself asks for
 */
export async function addStandardWallet(
  context: BrowserContext,
  { stack }: PageScene,
  account: string,
  features: readonly string[] = ABLE,
): Promise<StandardWallet> {
  const keys = await openStackKeys(stack);
  const wallet: StandardWallet = {
    name: 'Standard wallet',
    addressOf: keys.address,
    asked: [],
    answer: keys.sign,
    sign: keys.sign,
    switchTo: (page, name) =>
      page.evaluate(`standardWallet.switchTo(${JSON.stringify(keys.address(name))})`),
  };
  await context.exposeBinding('askStandardWallet', (_, asked: Asked) => {
    wallet.asked.push(asked);
    return wallet.answer(asked);
  });
  await context.addInitScript(inPage, {
    name: wallet.name,
    address: keys.address(account),
    chains: [keys.chain, 'solana:mainnet', 'solana:devnet'],
    features,
  });
  return wallet;
}

/** Runs in the page, before its own scripts. */
function inPage({
  name,
  address,
  chains,
  features,
}: {
  name: string;
  address: string;
  chains: readonly string[];
  features: readonly string[];
}): void {
  // biome-ignore lint/suspicious/noExplicitAny: the page's own types are not those of Node
  const page = globalThis as any;
  const toBase64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));
  const toBytes = (text: string) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const ask = async (from: string, kind: Asked['kind'], bytes: Uint8Array) =>
    toBytes(await page.askStandardWallet({ address: from, kind, bytes: toBase64(bytes) }));
  const listeners = new Set<(change: { accounts: object[] }) => void>();
  const publicKey = new Uint8Array(32);
  const accountOf = (of: string) => ({ address: of, publicKey, chains, features });
  let current = accountOf(address);
  const all = {
    'standard:connect': { version: '1.0.0', connect: async () => ({ accounts: [current] }) },
    'standard:events': {
      version: '1.0.0',
      on: (_: string, listener: (change: { accounts: object[] }) => void) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    'solana:signIn': {
      version: '1.0.0',
      async signIn(input: Record<string, string>) {
        const text = `${input.domain} wants you to sign in with your Solana account:
${input.address}

${input.statement}

URI: ${input.uri}
Version: ${input.version}
Chain ID: ${input.chainId}
Nonce: ${input.nonce}
Issued At: ${input.issuedAt}
Expiration Time: ${input.expirationTime}`;
        const signedMessage = new TextEncoder().encode(text);
        const signature = await ask(current.address, 'message', signedMessage);
        return [{ account: current, signedMessage, signature }];
      },
    },
    'solana:signTransaction': {
      version: '1.0.0',
      supportedTransactionVersions: ['legacy', 0],
      async signTransaction(input: { account: { address: string }; transaction: Uint8Array }) {
        const { account, transaction } = input;
        return [{ signedTransaction: await ask(account.address, 'transaction', transaction) }];
      },
    },
    'solana:signOffchainMessage': {
      version: '1.0.0',
      supportedMessageVersions: [1],
      async signOffchainMessage(input: { message: string; requiredSigners: Uint8Array[] }) {
        const domain = [0xff, ...new TextEncoder().encode('solana offchain')];
        const signers = input.requiredSigners.flatMap((signer) => [...signer]);
        const text = new TextEncoder().encode(input.message);
        const header = [...domain, 1, input.requiredSigners.length, ...signers];
        const signedOffchainMessage = Uint8Array.from([...header, ...text]);
        const signature = await ask(current.address, 'message', signedOffchainMessage);
        return [{ signedOffchainMessage, signature }];
      },
    },
  };
  const wallet = {
    version: '1.0.0',
    name,
    icon: 'data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=',
    chains,
    get accounts() {
      return [current];
    },
    features: Object.fromEntries(
      Object.entries(all).filter(
        ([feature]) => feature.startsWith('standard:') || features.includes(feature),
      ),
    ),
  };
  page.standardWallet = {
    switchTo(to: string) {
      current = accountOf(to);
      for (const listener of listeners) listener({ accounts: [current] });
    },
  };
  const register = ({ register: add }: { register: (made: object) => void }) => add(wallet);
  page.addEventListener('wallet-standard:app-ready', (event: { detail: never }) =>
    register(event.detail),
  );
  page.dispatchEvent(new page.CustomEvent('wallet-standard:register-wallet', { detail: register }));
}
