import { createHash } from 'node:crypto';
import { Keypair, PublicKey } from '@solana/web3.js';
import { CREDIT_MINT_DECIMALS } from '../../programs/client/generated/constants.ts';
import {
  type AccountName,
  type Accounts,
  createAddresses,
  decodeAccount,
} from '../../programs/client/index.ts';
import type { Chain } from './chain.ts';

/** The program's addresses on every test chain. */
export const addresses = createAddresses();

export const STAKE_DECIMALS = 9;
/** More than any test uses. */
const WALLET_BASE_UNITS = 1_000_000_000_000n;
const WORKER_STAKE_BASE_UNITS = WALLET_BASE_UNITS * 10n ** 6n;

/** A wallet that buys inference. */
export interface TestWallet {
  readonly keypair: Keypair;
  readonly creditAccount: PublicKey;
  /** The wallet's stablecoin account, which pays for credits. */
  readonly tokens: PublicKey;
}

/** A worker that sells inference. */
export interface TestWorker {
  readonly authority: Keypair;
  /** Signs proofs. */
  readonly proofKey: Keypair;
  /** The Worker account. */
  readonly address: PublicKey;
  /** The worker's stablecoin account, which settlements pay. */
  readonly payout: PublicKey;
  /** The authority's account of service tokens, for stakes. */
  readonly stakeTokens: PublicKey;
}

export type OneOrMore<Item> = readonly [Item, ...Item[]];

/** A chain and all parties on it, with their keys. */
export interface Cast {
  readonly chain: Chain;
  readonly authority: Keypair;
  readonly arbiter: Keypair;
  readonly creditMint: PublicKey;
  readonly stakeMint: PublicKey;
  /** The Gateway's cold key. */
  readonly operator: Keypair;
  readonly gateway: PublicKey;
  /** A signer of the Gateway. */
  readonly hotSigner: Keypair;
  readonly wallets: OneOrMore<TestWallet>;
  readonly workers: OneOrMore<TestWorker>;
  /** A key with lamports and no rights. */
  readonly stranger: Keypair;
  /** Reads an account of the program. */
  read<Name extends AccountName>(name: Name, address: PublicKey): Promise<Accounts[Name]>;
  /** Makes a funded key. */
  person(): Promise<Keypair>;
  /** Makes a token account. */
  token(mint: PublicKey, owner: PublicKey, baseUnits?: bigint): PublicKey;
}

/** The sha256 of a text, as in proofs, disputes and verdicts. */
export const hashOf = (text: string): Uint8Array =>
  new Uint8Array(createHash('sha256').update(text).digest());

/**
 * Creates the parties with keys, lamports and tokens, before the program is initialized.
 *
 * @param count the number of wallets and workers, at least one each
 */
export async function createCast(
  chain: Chain,
  count: { wallets: number; workers: number },
): Promise<Cast> {
  let keys = 0;
  // The same keys in every run, because an address with a lower bump costs more compute units.
  const nextBytes = (): Uint8Array => {
    keys += 1;
    return hashOf(`key ${keys}`);
  };
  const newKey = async (): Promise<Keypair> => Keypair.fromSeed(nextBytes());
  const person = async (): Promise<Keypair> => {
    const key = await newKey();
    chain.fund(key.publicKey);
    return key;
  };
  const token = (mint: PublicKey, owner: PublicKey, baseUnits = 0n): PublicKey => {
    const address = new PublicKey(nextBytes());
    chain.setToken(address, { mint, owner, baseUnits });
    return address;
  };
  const mint = (decimals: number): PublicKey => {
    const address = new PublicKey(nextBytes());
    chain.setMint(address, decimals);
    return address;
  };
  const creditMint = mint(CREDIT_MINT_DECIMALS);
  const stakeMint = mint(STAKE_DECIMALS);
  const operator = await person();
  const walletKeys = await Promise.all(Array.from({ length: count.wallets }, person));
  const workerKeys = await Promise.all(Array.from({ length: count.workers }, person));
  return {
    chain,
    person,
    token,
    authority: chain.authority,
    arbiter: await person(),
    creditMint,
    stakeMint,
    operator,
    gateway: addresses.gateway(operator.publicKey),
    hotSigner: await person(),
    wallets: walletKeys.map((keypair) => ({
      keypair,
      creditAccount: addresses.creditAccount(keypair.publicKey),
      tokens: token(creditMint, keypair.publicKey, WALLET_BASE_UNITS),
    })) as [TestWallet, ...TestWallet[]],
    workers: (await Promise.all(
      workerKeys.map(async (authority) => ({
        authority,
        proofKey: await newKey(),
        address: addresses.worker(authority.publicKey),
        payout: token(creditMint, authority.publicKey),
        stakeTokens: token(stakeMint, authority.publicKey, WORKER_STAKE_BASE_UNITS),
      })),
    )) as [TestWorker, ...TestWorker[]],
    stranger: await person(),
    async read(name, address) {
      const account = await chain.account(address);
      if (account === null) throw new Error(`no ${name} at ${address}`);
      const decoded = decodeAccount(account.data);
      if (decoded.name !== name) throw new Error(`${address} is a ${decoded.name}, no ${name}`);
      return decoded.data as never;
    },
  };
}
