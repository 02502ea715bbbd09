import type { Commitment, PublicKey, TransactionInstruction } from '@solana/web3.js';
import type { LedgerConnection } from '../../programs/client/ledgerConnection.ts';
import { littleEndian } from '../../programs/client/platform/bytes.ts';
import {
  associatedTokenAddress,
  readonly,
  signing,
  tokenAccountCreate,
  tokenInstruction,
  writable,
} from '../../programs/client/token/instructions.ts';
import { decodeTokenAccount, type TokenAccount } from '../../programs/client/token/layout.ts';
import { connectLedger } from '../../programs/client/verify/connection/connectLedger.ts';
import { type Operator, submit } from '../../stack/operator.ts';

/** Reads a token account. @throws Error when it does not exist */
export async function readTokenAccount(
  connection: Pick<LedgerConnection, 'getAccountInfo'>,
  address: PublicKey,
  commitment: Commitment = 'confirmed',
): Promise<TokenAccount> {
  const account = await connection.getAccountInfo(address, commitment);
  if (account === null) throw new Error(`there is no token account ${address}`);
  return decodeTokenAccount(account.data);
}

/** Moves tokens from one account to another. */
export function tokenTransfer(fields: {
  source: PublicKey;
  destination: PublicKey;
  owner: PublicKey;
  baseUnits: bigint;
}): TransactionInstruction {
  const { source, destination, owner, baseUnits } = fields;
  const keys = [writable(source), writable(destination), signing(owner)];
  return tokenInstruction('transfer', keys, littleEndian(baseUnits, 8));
}

/** Allows a delegate to spend this many tokens from an account. */
export function tokenApprove(fields: {
  account: PublicKey;
  delegate: PublicKey;
  owner: PublicKey;
  baseUnits: bigint;
}): TransactionInstruction {
  const { account, delegate, owner, baseUnits } = fields;
  const keys = [writable(account), readonly(delegate), signing(owner)];
  return tokenInstruction('approve', keys, littleEndian(baseUnits, 8));
}

/** Closes an empty token account and sends its rent to the destination. */
export function tokenAccountClose(fields: {
  account: PublicKey;
  destination: PublicKey;
  owner: PublicKey;
}): TransactionInstruction {
  const { account, destination, owner } = fields;
  return tokenInstruction('closeAccount', [
    ...[writable(account), writable(destination), signing(owner)],
  ]);
}

/** Opens a token account for somebody, of the mint of another one, at the operator's cost. */
export async function openTokens(
  operator: Operator,
  { owner, like }: { owner: PublicKey; like: PublicKey },
): Promise<PublicKey> {
  const { mint } = await readTokenAccount(connectLedger(operator.rpc), like);
  const payer = operator.authority.publicKey;
  await submit(operator, [tokenAccountCreate({ payer, owner, mint })]);
  return associatedTokenAddress(mint, owner);
}
