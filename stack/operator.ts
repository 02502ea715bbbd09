import {
  type Connection,
  type Keypair,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { reasonOf } from '../common/reasonOf.ts';
import { delay } from '../common/wait.ts';
import { type Addresses, createAddresses, TOKEN_PROGRAM } from '../programs/client/addresses.ts';
import {
  associatedTokenAddress,
  mintInitialize,
  tokenAccountCreate,
  tokenMintTo,
} from '../programs/client/token/instructions.ts';
import { MINT } from '../programs/client/token/layout.ts';

const POLL_INTERVAL_MS = 20;

/**
 * Sets a ledger up: pays for everything, and is the authority of the program. Of a
 * development ledger also that of both mints.
 */
export interface Operator {
  readonly connection: Connection;
  readonly authority: Keypair;
  /** Another deployment than the published one. */
  readonly programId?: PublicKey;
  /** Sends as a cluster needs it: its blocks take longer, and it refuses who polls so often. */
  readonly send?: (instructions: TransactionInstruction[], signers: Keypair[]) => Promise<unknown>;
}

/** The addresses of the program that an operator sets up. */
export const addressesOf = ({ programId }: Operator): Addresses => createAddresses(programId);

/** A machine that stands still for the life of a blockhash does so once. */
const TRIES_MAX = 3;
const BLOCKHASH_GONE = /Blockhash not found/;
/** What landed before the machine stood still is found all the same. */
const EVER = { searchTransactionHistory: true };

/**
 * Sends one transaction, paid by the operator, and waits until it is confirmed. One that expired
 * before it landed never will, so another takes its place.
 *
 * @throws Error when the ledger refuses it
 */
export async function submit(
  operator: Operator,
  instructions: TransactionInstruction[],
  signers: Keypair[] = [],
): Promise<void> {
  if (operator.send) return void (await operator.send(instructions, signers));
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    if (await hasLanded(operator, instructions, signers)) return;
  }
  throw new Error(`${TRIES_MAX} transactions expired before they were confirmed`);
}

/** @returns false when it expired, and never lands */
async function hasLanded(
  { connection, authority }: Operator,
  instructions: TransactionInstruction[],
  signers: Keypair[],
): Promise<boolean> {
  // web3.js reuses a blockhash for half a minute, but here it expires after a few seconds.
  const lifetime = await connection.getLatestBlockhash('confirmed');
  const message = new TransactionMessage({
    payerKey: authority.publicKey,
    recentBlockhash: lifetime.blockhash,
    instructions,
  });
  const transaction = new VersionedTransaction(message.compileToV0Message());
  transaction.sign([authority, ...signers]);
  try {
    const signature = await connection.sendTransaction(transaction);
    return await isConfirmed(connection, { signature, ...lifetime });
  } catch (error) {
    if (BLOCKHASH_GONE.test(reasonOf(error))) return false;
    throw error;
  }
}

/**
 * Polls, because a subscription after the confirmation gets no notification.
 *
 * @returns false when its blockhash expired before
 */
async function isConfirmed(
  connection: Connection,
  sent: { signature: string; lastValidBlockHeight: number },
): Promise<boolean> {
  const { signature, lastValidBlockHeight } = sent;
  let isAlive = true;
  do {
    isAlive = (await connection.getBlockHeight('confirmed')) <= lastValidBlockHeight;
    const { value } = await connection.getSignatureStatus(signature, EVER);
    if (value?.err) {
      throw new Error(`The ledger refused ${signature}: ${JSON.stringify(value.err)}`);
    }
    if (value && value.confirmationStatus !== 'processed') return true;
    await delay(POLL_INTERVAL_MS);
  } while (isAlive);
  return false;
}

/** Whether an account exists at the address, so that an earlier setup stays as it is. */
export async function exists({ connection }: Operator, address: PublicKey): Promise<boolean> {
  return (await connection.getAccountInfo(address, 'confirmed')) !== null;
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
    lamports: await operator.connection.getMinimumBalanceForRentExemption(MINT.bytes),
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
