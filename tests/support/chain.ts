import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AccountLayout } from '@solana/spl-token';
import {
  Keypair,
  PublicKey,
  SystemProgram,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import {
  type AccountInfoBytes,
  type AddedAccount,
  Clock,
  type ProgramTestContext,
  start,
} from 'solana-bankrun';
import { EscrowErrorCode, PROGRAM_ID } from '../../programs/client/index.ts';
import { mintAccount, type TokenHolding, tokenAccount } from './tokenAccounts.ts';

const ARTIFACT = join(import.meta.dirname, '../../programs/escrow/artifacts/escrow-v0.so');
const OLD_LOADER = new PublicKey('BPFLoader2111111111111111111111111111111111');
const UPGRADEABLE_LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111');
const [PROGRAM_DATA] = PublicKey.findProgramAddressSync([PROGRAM_ID.toBytes()], UPGRADEABLE_LOADER);
const LAMPORTS_PER_SIGNER = 1_000_000_000_000;
const ATTEMPTS_MAX = 5;
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
  /** Who may initialize the program. */
  readonly authority: Keypair;
  /** What config_initialize takes for the program's ProgramData. */
  readonly programData: PublicKey;
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
  setToken(address: PublicKey, token: TokenHolding): void;
  /** What a token account holds, in base units. */
  tokens(address: PublicKey): Promise<bigint>;
}

const errorNames = new Map(Object.entries(EscrowErrorCode).map(([name, code]) => [code, name]));

/** The program's own name for a failure that the ledger printed, where it has one. */
export const nameFailure = (result: string): string => {
  const code = /custom program error: 0x([0-9a-f]+)/.exec(result)?.[1];
  return (code && errorNames.get(Number.parseInt(code, 16))) || result;
};

/** The loader's accounts for a program that nobody can replace. */
function finalProgram(): AddedAccount[] {
  const data = readFileSync(ARTIFACT);
  const info = { lamports: LAMPORTS_PER_SIGNER, data, owner: OLD_LOADER, executable: true };
  return [{ address: PROGRAM_ID, info }];
}

/** The loader's accounts for a program that `authority` can replace; null: nobody any more. */
function upgradeableProgram(authority: PublicKey | null): AddedAccount[] {
  const owner = UPGRADEABLE_LOADER;
  const program = Buffer.concat([Buffer.from([2, 0, 0, 0]), PROGRAM_DATA.toBytes()]);
  const header = Buffer.alloc(45);
  header.writeUInt32LE(3);
  if (authority !== null) header.set([1, ...authority.toBytes()], 12);
  const data = Buffer.concat([header, readFileSync(ARTIFACT)]);
  return [
    {
      address: PROGRAM_ID,
      info: { lamports: LAMPORTS_PER_SIGNER, data: program, owner, executable: true },
    },
    {
      address: PROGRAM_DATA,
      info: { lamports: LAMPORTS_PER_SIGNER, data, owner, executable: false },
    },
  ];
}

/**
 * Starts a chain of its own for one test file.
 *
 * @param options.upgradeAuthority puts the program under the upgradeable loader, as clusters do;
 *   without it the old loader has it, and `LOCAL_AUTHORITY` initializes it
 */
export async function startChain(
  options: { upgradeAuthority?: PublicKey | null } = {},
): Promise<Chain> {
  const { upgradeAuthority } = options;
  const context = await start(
    [],
    upgradeAuthority === undefined ? finalProgram() : upgradeableProgram(upgradeAuthority),
  );
  const chain = createChain(context, upgradeAuthority === undefined ? PROGRAM_ID : PROGRAM_DATA);
  await chain.setTime(FIRST_SECOND);
  chain.fund(LOCAL_AUTHORITY.publicKey);
  return chain;
}

function createChain(context: ProgramTestContext, programData: PublicKey): Chain {
  const { banksClient: client, payer } = context;
  let nonce = 0;

  const setAccount = (address: PublicKey, account: AccountInfoBytes): void =>
    context.setAccount(address, account);
  return {
    payer,
    authority: LOCAL_AUTHORITY,
    programData,
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
      // Bankrun drops a transaction it has seen; a transfer of another amount makes each its own.
      nonce += 1;
      const distinct = SystemProgram.transfer({
        fromPubkey: payer.publicKey,
        toPubkey: payer.publicKey,
        lamports: nonce,
      });
      const keys = new Map([payer, ...signers].map((key) => [key.publicKey.toBase58(), key]));
      for (let attempt = 1; ; attempt += 1) {
        const transaction = new Transaction().add(...instructions, distinct);
        const latest = await client.getLatestBlockhash('processed');
        transaction.recentBlockhash = latest?.[0] ?? context.lastBlockhash;
        transaction.feePayer = payer.publicKey;
        transaction.sign(...keys.values());
        const { result, meta } = await client.tryProcessTransaction(transaction);
        if (result === null) return Number(meta?.computeUnitsConsumed);
        // On a busy machine the chain forgets a blockhash before it is used: nothing was executed.
        if (result !== 'Blockhash not found' || attempt === ATTEMPTS_MAX) {
          throw new Refusal(nameFailure(result));
        }
      }
    },

    fund: (address) =>
      setAccount(address, {
        lamports: LAMPORTS_PER_SIGNER,
        data: new Uint8Array(),
        owner: SystemProgram.programId,
        executable: false,
      }),

    setMint: (mint, decimals) => setAccount(mint, mintAccount(decimals)),
    setToken: (address, token) => setAccount(address, tokenAccount(token)),

    async tokens(address) {
      const account = await client.getAccount(address);
      if (account === null) throw new Error(`${address} is no token account`);
      return AccountLayout.decode(account.data).amount;
    },
  };
}
