import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ACCOUNT_SIZE,
  AccountLayout,
  AccountState,
  MINT_SIZE,
  MintLayout,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import {
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import { type AccountInfoBytes, Clock, type ProgramTestContext, start } from 'solana-bankrun';
import { EscrowErrorCode, PROGRAM_ID } from '../../programs/client/index.ts';

const ARTIFACT = join(import.meta.dirname, '../../programs/escrow/artifacts/escrow-v0.so');
const OLD_LOADER = new PublicKey('BPFLoader2111111111111111111111111111111111');
const LAMPORTS_PER_SIGNER = 1_000_000_000_000;
/** A round moment for the chain's first Clock, in Unix seconds. */
const FIRST_SECOND = 1_800_000_000n;

/**
 * The one key that may initialize the program under the old loader, where solana-bankrun puts it.
 * Everybody can compute it, as `LOCAL_AUTHORITY` in programs/escrow/src/loader.rs says.
 */
export const LOCAL_AUTHORITY = Keypair.fromSeed(
  createHash('sha256')
    .update('svc-inference local authority: public and worthless, for solana-bankrun only')
    .digest(),
);

/** An instruction that failed, by the program's own name for the reason where it has one. */
export class Refusal extends Error {}

/** A bankrun chain with the escrow program on it. */
export interface Chain {
  readonly payer: Keypair;
  /** The Clock's time, in Unix seconds. */
  now(): Promise<bigint>;
  /** Sets the Clock to a time in Unix seconds. */
  setTime(unixSeconds: bigint): Promise<void>;
  /**
   * Runs one transaction, paid by the chain's payer.
   * @returns the compute units it took
   * @throws Refusal when it fails
   */
  send(instructions: TransactionInstruction[], signers?: Keypair[]): Promise<number>;
  account(address: PublicKey): Promise<AccountInfoBytes | null>;
  setAccount(address: PublicKey, account: AccountInfoBytes): void;
  /** Gives a key lamports to pay rent with. */
  fund(address: PublicKey): void;
  /** Writes a mint; nobody needs to have created it. */
  setMint(mint: PublicKey, decimals: number): void;
  /** Writes a token account, whatever was there. */
  setToken(address: PublicKey, token: TokenAccount): void;
  /** What a token account holds, in base units. */
  tokens(address: PublicKey): Promise<bigint>;
}

export interface TokenAccount {
  mint: PublicKey;
  owner: PublicKey;
  baseUnits: bigint;
  frozen?: boolean;
}

const errorNames = new Map(Object.entries(EscrowErrorCode).map(([name, code]) => [code, name]));

const nameFailure = (result: string): string => {
  const code = /custom program error: 0x([0-9a-f]+)/.exec(result)?.[1];
  return (code && errorNames.get(Number.parseInt(code, 16))) || result;
};

/** Starts a chain of its own for one test file. */
export async function startChain(): Promise<Chain> {
  const program = {
    lamports: LAMPORTS_PER_SIGNER,
    data: readFileSync(ARTIFACT),
    owner: OLD_LOADER,
    executable: true,
  };
  const context = await start([], [{ address: PROGRAM_ID, info: program }]);
  const chain = createChain(context);
  await chain.setTime(FIRST_SECOND);
  chain.fund(LOCAL_AUTHORITY.publicKey);
  return chain;
}

function createChain(context: ProgramTestContext): Chain {
  const { banksClient: client, payer } = context;
  const rentFree = (size: number): number => (size + 128) * 6_960;
  let nonce = 0;

  const setAccount = (address: PublicKey, account: AccountInfoBytes): void =>
    context.setAccount(address, account);
  const ofTokenProgram = (data: Uint8Array): AccountInfoBytes => ({
    lamports: rentFree(data.length),
    data,
    owner: TOKEN_PROGRAM_ID,
    executable: false,
  });

  return {
    payer,
    setAccount,
    account: (address) => client.getAccount(address),
    now: async () => (await client.getClock()).unixTimestamp,

    async setTime(unixSeconds) {
      const { slot, epoch, epochStartTimestamp, leaderScheduleEpoch } = await client.getClock();
      context.setClock(
        new Clock(slot, epochStartTimestamp, epoch, leaderScheduleEpoch, unixSeconds),
      );
    },

    async send(instructions, signers = []) {
      const transaction = new Transaction();
      // Bankrun drops a transaction it has seen; a transfer of another amount makes each its own.
      nonce += 1;
      transaction.add(
        ...instructions,
        SystemProgram.transfer({
          fromPubkey: payer.publicKey,
          toPubkey: payer.publicKey,
          lamports: nonce,
        }),
      );
      transaction.recentBlockhash = context.lastBlockhash;
      transaction.feePayer = payer.publicKey;
      const keys = new Map([payer, ...signers].map((key) => [key.publicKey.toBase58(), key]));
      transaction.sign(...keys.values());
      const { result, meta } = await client.tryProcessTransaction(transaction);
      if (result !== null) throw new Refusal(nameFailure(result));
      return Number(meta?.computeUnitsConsumed);
    },

    fund: (address) =>
      setAccount(address, {
        lamports: LAMPORTS_PER_SIGNER,
        data: new Uint8Array(),
        owner: SystemProgram.programId,
        executable: false,
      }),

    setMint(mint, decimals) {
      const data = Buffer.alloc(MINT_SIZE);
      const authority = PublicKey.default;
      MintLayout.encode(
        {
          mintAuthorityOption: 0,
          mintAuthority: authority,
          supply: 0n,
          decimals,
          isInitialized: true,
          freezeAuthorityOption: 0,
          freezeAuthority: authority,
        },
        data,
      );
      setAccount(mint, ofTokenProgram(data));
    },

    setToken(address, { mint, owner, baseUnits, frozen = false }) {
      const data = Buffer.alloc(ACCOUNT_SIZE);
      AccountLayout.encode(
        {
          mint,
          owner,
          amount: baseUnits,
          delegateOption: 0,
          delegate: PublicKey.default,
          delegatedAmount: 0n,
          state: frozen ? AccountState.Frozen : AccountState.Initialized,
          isNativeOption: 0,
          isNative: 0n,
          closeAuthorityOption: 0,
          closeAuthority: PublicKey.default,
        },
        data,
      );
      setAccount(address, ofTokenProgram(data));
    },

    async tokens(address) {
      const account = await client.getAccount(address);
      if (account === null) throw new Error(`${address} is no token account`);
      return AccountLayout.decode(account.data).amount;
    },
  };
}
