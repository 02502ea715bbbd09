import type { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../programs/client/addresses.ts';
import { type DecodedEvent, EscrowErrorCode } from '../../programs/client/index.ts';
import {
  decodeTokenAccount,
  encodeMint,
  encodeTokenAccount,
  FROZEN,
  INITIALIZED,
} from '../../programs/client/token/layout.ts';

/** What an address holds, in one form for every version of web3.js. */
export interface ChainAccount {
  lamports: number;
  data: Uint8Array;
  owner: PublicKey;
  executable: boolean;
}

/** The content of a token account. */
export interface TokenHolding {
  mint: PublicKey;
  owner: PublicKey;
  baseUnits: bigint;
  frozen?: boolean;
}

const encodeHolding = ({ mint, owner, baseUnits, frozen }: TokenHolding): Uint8Array =>
  encodeTokenAccount({
    mint,
    owner,
    amount: baseUnits,
    state: frozen ? FROZEN : INITIALIZED,
    delegate: null,
    delegatedAmount: 0n,
    nativeReserve: null,
    closeAuthority: null,
  });

/** The first time of every chain's Clock, in Unix seconds. */
export const FIRST_SECOND = 1_800_000_000n;

/** A ledger with the escrow program, and with writable accounts and Clock. */
export interface Chain {
  readonly payer: Keypair;
  /** The key that may initialize the program. */
  readonly authority: Keypair;
  /** The ProgramData account for config_initialize. */
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
  account(address: PublicKey): Promise<ChainAccount | null>;
  setAccount(address: PublicKey, account: ChainAccount): void;
  /** Gives a key lamports to pay rent with. */
  fund(address: PublicKey): void;
  /** Writes a mint without a mint authority: tests write balances directly. */
  setMint(mint: PublicKey, decimals: number): void;
  /** Writes a token account over any existing one. */
  setToken(address: PublicKey, token: TokenHolding): void;
  /** A token account's balance, in base units. */
  tokens(address: PublicKey): Promise<bigint>;
  /**
   * The events of the last transaction; none if it failed.
   * @throws Error in solana-bankrun, which does not return inner instructions
   */
  lastEvents(): DecodedEvent[];
  /** Ends the ledger. */
  close(): void;
}

/** A failed transaction. The message is the program's name of the error, if it has one. */
export class Refusal extends Error {
  override name = 'Refusal';
}

const errorNames = new Map(Object.entries(EscrowErrorCode).map(([name, code]) => [code, name]));

/** The program's name for a failure in the ledger's text, if it has one. */
export const nameFailure = (result: string): string => {
  const code = /custom program error: 0x([0-9a-f]+)/.exec(result)?.[1];
  return (code && errorNames.get(Number.parseInt(code, 16))) || result;
};

/** More than all token accounts of a test hold, so that any of it can be burnt. */
const MINTED_BASE_UNITS = 2n ** 63n;

/** More than any signer uses. */
export const LAMPORTS_PER_SIGNER = 1_000_000_000_000;

/**
 * The functions of every chain that read and write whole accounts.
 *
 * @param ledger.rentLamports what the ledger asks for an account of so many bytes
 */
export function createAccountWriters({
  account,
  setAccount,
  rentLamports,
}: Pick<Chain, 'account' | 'setAccount'> & {
  rentLamports(dataBytes: number): bigint;
}): Pick<Chain, 'fund' | 'setMint' | 'setToken' | 'tokens'> {
  const setOfTokenProgram = (address: PublicKey, data: Uint8Array): void =>
    setAccount(address, {
      lamports: Number(rentLamports(data.length)),
      data,
      owner: TOKEN_PROGRAM,
      executable: false,
    });
  return {
    fund: (address) =>
      setAccount(address, {
        lamports: LAMPORTS_PER_SIGNER,
        data: new Uint8Array(),
        owner: SYSTEM_PROGRAM,
        executable: false,
      }),
    setMint: (mint, decimals) => setOfTokenProgram(mint, encodeMint(decimals, MINTED_BASE_UNITS)),
    setToken: (address, token) => setOfTokenProgram(address, encodeHolding(token)),

    async tokens(address) {
      const found = await account(address);
      if (found === null) throw new Error(`${address} is no token account`);
      return decodeTokenAccount(found.data).amount;
    },
  };
}
