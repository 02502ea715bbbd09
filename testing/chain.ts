import type { AccountInfo, Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { type DecodedEvent, EscrowErrorCode } from '../programs/client/index.ts';
import type { TokenHolding } from './tokenAccounts.ts';

/** A round moment for every chain's first Clock, in Unix seconds. */
export const FIRST_SECOND = 1_800_000_000n;

/** A ledger with the escrow program on it, whose accounts and Clock a test may write. */
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
  account(address: PublicKey): Promise<AccountInfo<Uint8Array> | null>;
  setAccount(address: PublicKey, account: AccountInfo<Uint8Array>): void;
  /** Gives a key lamports to pay rent with. */
  fund(address: PublicKey): void;
  /** Writes a mint; nobody needs to have created it. */
  setMint(mint: PublicKey, decimals: number): void;
  /** Writes a token account, whatever was there. */
  setToken(address: PublicKey, token: TokenHolding): void;
  /** What a token account holds, in base units. */
  tokens(address: PublicKey): Promise<bigint>;
  /**
   * The events of the last transaction; none if it failed.
   * @throws Error in solana-bankrun, which keeps to itself what programs call
   */
  lastEvents(): DecodedEvent[];
  /** Ends the ledger and everything that runs for it. */
  close(): void;
}

/** A transaction that failed. The message is the program's own name for the reason, if it has one. */
export class Refusal extends Error {
  override name = 'Refusal';
}

const errorNames = new Map(Object.entries(EscrowErrorCode).map(([name, code]) => [code, name]));

/** The program's own name for a failure that the ledger printed, where it has one. */
export const nameFailure = (result: string): string => {
  const code = /custom program error: 0x([0-9a-f]+)/.exec(result)?.[1];
  return (code && errorNames.get(Number.parseInt(code, 16))) || result;
};
