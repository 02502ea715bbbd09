import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { createAddresses } from '../addresses.ts';
import { buildInstruction, type Deployment } from './build.ts';

/** Opens a Worker account; the worker gets jobs once it has staked and hosts a model. */
export function workerRegister(
  input: Deployment & {
    /** Pays the rent. */
    authority: PublicKey;
    /** A stablecoin token account. */
    payout: PublicKey;
    /** The ed25519 key that signs proofs. */
    proofKey: PublicKey;
    /** Where the service posts jobs. */
    endpoint: string;
  },
): TransactionInstruction {
  return buildInstruction('worker_register', {
    ...input,
    worker: createAddresses(input.programId).worker(input.authority),
  });
}

/** Changes a worker's proof key, endpoint and payout. */
export function workerUpdate(
  input: Deployment & {
    authority: PublicKey;
    /** A stablecoin token account. */
    payout: PublicKey;
    proofKey: PublicKey;
    endpoint: string;
  },
): TransactionInstruction {
  return buildInstruction('worker_update', {
    ...input,
    worker: createAddresses(input.programId).worker(input.authority),
  });
}

/** Declares that the worker runs a model. */
export function workerHost(
  input: Deployment & {
    authority: PublicKey;
    modelId: string;
  },
): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  return buildInstruction('worker_host', {
    ...input,
    worker: addresses.worker(input.authority),
    model: addresses.model(input.modelId),
  });
}

/** Declares that the worker no longer runs a model. */
export function workerUnhost(
  input: Deployment & {
    authority: PublicKey;
    modelId: string;
  },
): TransactionInstruction {
  const addresses = createAddresses(input.programId);
  return buildInstruction('worker_unhost', {
    ...input,
    worker: addresses.worker(input.authority),
    model: addresses.model(input.modelId),
  });
}

/** Takes a worker out of service, or lets it back. */
export function workerSuspend(
  input: Deployment & {
    arbiter: PublicKey;
    /** The Worker account. */
    worker: PublicKey;
    suspended: boolean;
  },
): TransactionInstruction {
  return buildInstruction('worker_suspend', input);
}

/** Ends a worker's service. Its account stays, so that its history is never replayed. */
export function workerDeregister(
  input: Deployment & {
    authority: PublicKey;
  },
): TransactionInstruction {
  return buildInstruction('worker_deregister', {
    ...input,
    worker: createAddresses(input.programId).worker(input.authority),
  });
}

/** Adds to a worker's stake; anybody may pay. */
export function stakeDeposit(
  input: Deployment & {
    /** Owner of the paying token account. */
    depositor: PublicKey;
    depositorTokenAccount: PublicKey;
    /** The Worker account. */
    worker: PublicKey;
    /** Whole tokens. */
    tokens: bigint;
  },
): TransactionInstruction {
  return buildInstruction('stake_deposit', input);
}

/** Starts the cooldown after which this part of the stake can be withdrawn. */
export function stakeUnlock(
  input: Deployment & {
    authority: PublicKey;
    /** Whole tokens. */
    tokens: bigint;
  },
): TransactionInstruction {
  return buildInstruction('stake_unlock', {
    ...input,
    worker: createAddresses(input.programId).worker(input.authority),
  });
}

/** Takes out everything whose cooldown is over. */
export function stakeWithdraw(
  input: Deployment & {
    authority: PublicKey;
    /** A token account of the stake's mint. */
    destination: PublicKey;
  },
): TransactionInstruction {
  return buildInstruction('stake_withdraw', {
    ...input,
    worker: createAddresses(input.programId).worker(input.authority),
  });
}
