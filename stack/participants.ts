import { type Keypair, LAMPORTS_PER_SOL, type PublicKey } from '@solana/web3.js';
import { BASE_UNITS_PER_CREDIT, NO_LIMIT } from '../programs/client/generated/constants.ts';
import {
  creditBuy,
  creditOpen,
  stakeDeposit,
  workerHost,
  workerRegister,
} from '../programs/client/instructions.ts';
import {
  addressesOf,
  exists,
  type Mints,
  mintTo,
  type Operator,
  STAKE_BASE_UNITS_PER_TOKEN,
  submit,
  transfer,
} from './operator.ts';

/** Covers a Worker's rent and fees many times over. */
const WORKER_LAMPORTS = LAMPORTS_PER_SOL;

/**
 * Registers, stakes and hosts in one transaction, so that the worker is complete once it is visible.
 * A registered worker stays as it is.
 *
 * @returns the Worker account's address
 */
export async function registerWorker(
  operator: Operator,
  input: {
    authority: Keypair;
    proofKey: PublicKey;
    endpoint: string;
    modelIds: readonly string[];
    /** Whole tokens. */
    stakeTokens: bigint;
    mints: Mints;
  },
): Promise<PublicKey> {
  const { mints, stakeTokens } = input;
  const { programId, ...addresses } = addressesOf(operator);
  const authority = input.authority.publicKey;
  const worker = addresses.worker(authority);
  if (await exists(operator, worker)) return worker;
  const payout = mintTo(operator, { mint: mints.credit, owner: authority, baseUnits: 0n });
  const stake = mintTo(operator, {
    mint: mints.stake,
    owner: authority,
    baseUnits: stakeTokens * STAKE_BASE_UNITS_PER_TOKEN,
  });
  const fund = transfer(operator, authority, WORKER_LAMPORTS);
  await submit(operator, [fund, ...payout.instructions, ...stake.instructions]);
  await submit(
    operator,
    [
      workerRegister({
        programId,
        authority,
        payout: payout.account,
        proofKey: input.proofKey,
        endpoint: input.endpoint,
      }),
      stakeDeposit({
        programId,
        depositor: authority,
        depositorTokenAccount: stake.account,
        worker,
        tokens: stakeTokens,
      }),
      ...input.modelIds.map((modelId) => workerHost({ programId, authority, modelId })),
    ],
    [input.authority],
  );
  return worker;
}

/**
 * Opens a wallet's CreditAccount with a spender and bought credits, if it has none yet.
 *
 * @returns the CreditAccount's address
 */
export async function openCreditAccount(
  operator: Operator,
  input: { wallet: Keypair; spender: PublicKey; credits: bigint; mints: Mints },
): Promise<PublicKey> {
  const payer = operator.authority.publicKey;
  const wallet = input.wallet.publicKey;
  const { programId, ...addresses } = addressesOf(operator);
  const creditAccount = addresses.creditAccount(wallet);
  if (await exists(operator, creditAccount)) return creditAccount;
  const purse = mintTo(operator, {
    mint: input.mints.credit,
    owner: payer,
    baseUnits: input.credits * BASE_UNITS_PER_CREDIT,
  });
  await submit(
    operator,
    [
      ...purse.instructions,
      // The development wallet chooses to bind its spender by its credits alone.
      creditOpen({
        programId,
        payer,
        wallet,
        spender: input.spender,
        limitPerJobCredits: NO_LIMIT,
        limitPerDayCredits: NO_LIMIT,
      }),
      creditBuy({
        programId,
        buyer: payer,
        buyerTokenAccount: purse.account,
        wallet,
        credits: input.credits,
      }),
    ],
    [input.wallet],
  );
  return creditAccount;
}
