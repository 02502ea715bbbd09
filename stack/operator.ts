import {
  type Keypair,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js';
import { type Addresses, createAddresses, TOKEN_PROGRAM } from '../programs/client/addresses.ts';
import {
  getAccountInfo,
  getMinimumBalanceForRentExemption,
} from '../programs/client/rpc/methods.ts';
import type { Rpc } from '../programs/client/rpc/rpc.ts';
import {
  associatedTokenAddress,
  mintInitialize,
  tokenAccountCreate,
  tokenMintTo,
} from '../programs/client/token/instructions.ts';
import { MINT } from '../programs/client/token/layout.ts';
import { sendTogether } from '../worker/setup/transactions.ts';

/**
 * Sets a ledger up: pays for everything, and is the authority of the program. Of a
 * development ledger also that of both mints.
 */
export interface Operator {
  readonly rpc: Rpc;
  readonly authority: Keypair;
  /** Another deployment than the published one. */
  readonly programId?: PublicKey;
}

/** The addresses of the program that an operator sets up. */
export const addressesOf = ({ programId }: Operator): Addresses => createAddresses(programId);

/**
 * Sends one transaction, paid by the operator, and waits until it has landed.
 *
 * @throws SetupError when the ledger refuses it, drops it or is away
 */
export async function submit(
  { rpc, authority }: Operator,
  instructions: readonly TransactionInstruction[],
  signers: readonly Keypair[] = [],
): Promise<void> {
  await sendTogether(rpc, authority, instructions, signers);
}

/** The instruction that gives an address lamports of the operator. */
export function transfer({ authority }: Operator, to: PublicKey, lamports: number) {
  return SystemProgram.transfer({ fromPubkey: authority.publicKey, toPubkey: to, lamports });
}

/** Whether an account exists at the address, so that an earlier setup stays as it is. */
export async function exists({ rpc }: Operator, address: PublicKey): Promise<boolean> {
  const found = await getAccountInfo(rpc, address.toBase58(), { commitment: 'confirmed' });
  return found.value !== null;
}

/** The service's two tokens. */
export interface Mints {
  readonly credit: PublicKey;
  readonly stake: PublicKey;
}

/** The stablecoin's decimals are part of the price of a credit; the stake mint has the same. */
const MINT_DECIMALS = 6;
export const STAKE_BASE_UNITS_PER_TOKEN = 10n ** BigInt(MINT_DECIMALS);

/** Creates a mint at the given key's address, if it is not there yet. */
export async function createMint(operator: Operator, mint: Keypair): Promise<void> {
  if (await exists(operator, mint.publicKey)) return;
  const authority = operator.authority.publicKey;
  const create = SystemProgram.createAccount({
    fromPubkey: authority,
    newAccountPubkey: mint.publicKey,
    lamports: await getMinimumBalanceForRentExemption(operator.rpc, MINT.bytes),
    space: MINT.bytes,
    programId: TOKEN_PROGRAM,
  });
  const initialize = mintInitialize({
    mint: mint.publicKey,
    authority,
    decimals: MINT_DECIMALS,
  });
  await submit(operator, [create, initialize], [mint]);
}

/** Instructions that give an owner newly minted tokens, and the token account they arrive in. */
export function mintTo(
  { authority }: Operator,
  input: { mint: PublicKey; owner: PublicKey; baseUnits: bigint },
): { account: PublicKey; instructions: TransactionInstruction[] } {
  const { mint, owner, baseUnits } = input;
  const account = associatedTokenAddress(mint, owner);
  const payer = authority.publicKey;
  return {
    account,
    instructions: [
      tokenAccountCreate({ payer, owner, mint }),
      tokenMintTo({ mint, account, authority: payer, baseUnits }),
    ],
  };
}
