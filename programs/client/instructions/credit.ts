import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/**
 * Opens a wallet's CreditAccount; anybody may pay its rent. Only the wallet can name a spender, so
 * it must sign when one is given.
 */
export function creditOpen(
  input: Deployment & { payer: PublicKey; wallet: PublicKey; spender?: PublicKey | undefined },
): TransactionInstruction {
  const fields = {
    ...input,
    creditAccount: createAddresses(input.programId).creditAccount(input.wallet),
    spender: input.spender ?? PublicKey.default,
  };
  return buildInstruction('credit_open', fields, input.spender === undefined ? [] : ['wallet']);
}

/** Pays stablecoin into the vault for anybody's credits. */
export function creditBuy(
  input: Deployment & {
    /** Owner of the paying token account. */
    buyer: PublicKey;
    buyerTokenAccount: PublicKey;
    /** Who gets the credits. */
    wallet: PublicKey;
    /** 10,000 base units each. */
    credits: bigint;
  },
): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  return buildInstruction('credit_buy', {
    ...input,
    creditAccount: addresses.creditAccount(input.wallet),
  });
}

/** Turns available credits back into stablecoin. Locked credits stay until their jobs end. */
export function creditWithdraw(
  input: Deployment & {
    wallet: PublicKey;
    /** A stablecoin token account. */
    destination: PublicKey;
    credits: bigint;
  },
): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  return buildInstruction('credit_withdraw', {
    ...input,
    creditAccount: addresses.creditAccount(input.wallet),
  });
}

/** Names who may lock this wallet's credits: a key, a Gateway, or nobody (the zero key). */
export function spenderSet(
  input: Deployment & {
    wallet: PublicKey;
    spender: PublicKey;
  },
): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  return buildInstruction('spender_set', {
    ...input,
    creditAccount: addresses.creditAccount(input.wallet),
  });
}

/** Bounds what the spender may lock. The wallet itself is not bound. */
export function limitSet(
  input: Deployment & {
    wallet: PublicKey;
    /** The greatest u64 means none. */
    limitPerJobCredits: bigint;
    /** Per UTC day; the greatest u64 means none. */
    limitPerDayCredits: bigint;
  },
): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  return buildInstruction('limit_set', {
    ...input,
    creditAccount: addresses.creditAccount(input.wallet),
  });
}

/** Pays out what a settlement or verdict could only note down; anybody may call it. */
export function claimPay(
  input: Deployment & {
    /** The CreditAccount, Worker or Treasury that is owed. */
    claimant: PublicKey;
    /** A worker's payout account; the other claimants are paid inside the program. */
    workerPayout?: PublicKey;
  },
): TransactionInstruction {
  return buildInstruction('claim_pay', {
    ...input,
    payout: input.workerPayout ?? createAddresses(input.programId).treasuryVault,
  });
}
