import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { type Actor, buildInstruction, type Deployment } from './build.ts';

/** Locks credits for a new job; the signer, or its Gateway, becomes the job's controller. */
export function jobLock(
  input: Deployment &
    Actor & {
      /** Pays the Job's rent and gets it back when the job is closed. */
      payer: PublicKey;
      /** Whose credits. */
      wallet: PublicKey;
      modelId: string;
      /** 16 bytes, from createJobId. */
      jobId: Uint8Array;
      tokenLimit: number;
      /** The quoted lock; a higher price is refused as PriceChanged. */
      maxCredits: bigint;
    },
): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  const creditAccount = addresses.creditAccount(input.wallet);
  return buildInstruction('job_lock', {
    ...input,
    creditAccount,
    model: addresses.model(input.modelId),
    job: addresses.job(creditAccount, input.jobId),
  });
}

/** Binds a job to the worker that is asked to run it. Repeating it does nothing. */
export function jobAcknowledge(
  input: Deployment &
    Actor & {
      job: PublicKey;
      /** The Worker account. */
      worker: PublicKey;
      /** From 1, greater with each worker asked. */
      attempt: number;
    },
): TransactionInstruction {
  return buildInstruction('job_acknowledge', input);
}

/** Records the worker's proof, whose signature the precompile checks in the same transaction. */
export function jobProve(
  input: Deployment & {
    job: PublicKey;
    /** The Worker account. */
    worker: PublicKey;
    /** Position of ed25519Instruction's result in the transaction. */
    ed25519InstructionIndex: number;
    outputHash: Uint8Array;
    promptTokens: number;
    completionTokens: number;
  },
): TransactionInstruction {
  return buildInstruction('job_prove', input);
}

/** Charges the job and pays the worker and the treasury. */
export function jobSettle(
  input: Deployment &
    Actor & {
      job: PublicKey;
      creditAccount: PublicKey;
      /** The Worker account. */
      worker: PublicKey;
      workerPayout: PublicKey;
      /** Sha256 of the text that the client was given. */
      deliveredHash: Uint8Array;
      /** Output tokens as the controller counted them. */
      countedTokens: number;
    },
): TransactionInstruction {
  return buildInstruction('job_settle', input);
}

/** Ends a job without a charge and unlocks its credits. */
export function jobFail(
  input: Deployment &
    Actor & {
      job: PublicKey;
      creditAccount: PublicKey;
      /** Index into FAILURE_REASONS. */
      reason: number;
      /** Looked at when a proof was given. */
      deliveredHash: Uint8Array;
      /** Looked at when a proof was given. */
      countedTokens: number;
    },
): TransactionInstruction {
  return buildInstruction('job_fail', input);
}

/** Returns the credits of a job past its deadline; anybody may call it. */
export function jobRefund(
  input: Deployment & {
    job: PublicKey;
    creditAccount: PublicKey;
  },
): TransactionInstruction {
  return buildInstruction('job_refund', input);
}

/** Repays the rent of a job that is over; anybody may call it. */
export function jobClose(
  input: Deployment & {
    job: PublicKey;
    /** As the Job records it. */
    rentPayer: PublicKey;
  },
): TransactionInstruction {
  return buildInstruction('job_close', input);
}
