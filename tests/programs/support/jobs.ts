import type { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import {
  createJobId,
  ed25519Instruction,
  type Job,
  jobAcknowledge,
  jobDispute,
  jobFail,
  jobLock,
  jobProve,
  jobRefund,
  jobSettle,
  PROGRAM_ID,
  proofMessage,
  sign,
} from '../../../programs/client/index.ts';
import { hashOf, MODEL, type World } from './world.ts';

/** The whole answer of most cases. */
export const ANSWER = hashOf('the whole answer');

export interface LockChoice {
  /** Signs the lock; the gateway's hot signer unless the case is about another. */
  signer?: Keypair;
  /** Null: no gateway account is given. */
  gateway?: PublicKey | null;
  tokenLimit?: number;
  maxCredits?: bigint;
  modelId?: string;
  /** The id's time relative to the Clock's. */
  idAgeMs?: number;
}

/** A job_lock and the address of its Job. */
export async function composeLock(world: World, choice: LockChoice = {}) {
  const { chain, wallet, creditAccount } = world;
  const nowMs = Number(await chain.now()) * 1_000 - (choice.idAgeMs ?? 0);
  const { bytes, address } = createJobId({ nowMs, creditAccount });
  const instruction = jobLock({
    payer: chain.payer.publicKey,
    signer: (choice.signer ?? world.hotSigner).publicKey,
    gateway: choice.gateway === null ? undefined : (choice.gateway ?? world.gateway),
    wallet: wallet.publicKey,
    modelId: choice.modelId ?? MODEL.id,
    jobId: bytes,
    tokenLimit: choice.tokenLimit ?? 2_000,
    maxCredits: choice.maxCredits ?? 1_000n,
  });
  return { instruction, job: address, jobId: bytes };
}

/** Locks a job and returns its address. */
export async function lockJob(world: World, choice: LockChoice = {}): Promise<PublicKey> {
  const { instruction, job } = await composeLock(world, choice);
  await world.chain.send([instruction], [choice.signer ?? world.hotSigner]);
  return job;
}

export const readJob = (world: World, job: PublicKey): Promise<Job> => world.read('Job', job);

/** Who acts for the controller in most cases. */
const byGateway = (world: World) => ({
  signer: world.hotSigner.publicKey,
  gateway: world.gateway,
});

export const acknowledge = (
  world: World,
  job: PublicKey,
  {
    attempt = 1,
    worker = world.worker,
    ...actor
  }: Partial<Parameters<typeof jobAcknowledge>[0]> = {},
): TransactionInstruction =>
  jobAcknowledge({ ...byGateway(world), job, worker, attempt, ...actor });

export interface Proven {
  outputHash?: Uint8Array;
  promptTokens?: number;
  completionTokens?: number;
  attempt?: number;
  key?: Keypair;
  worker?: PublicKey;
}

/** The precompile's verification and the job_prove that names it, at the head of a transaction. */
export function prove(
  world: World,
  job: PublicKey,
  proven: Proven = {},
  index = 0,
): [TransactionInstruction, TransactionInstruction] {
  const worker = proven.worker ?? world.worker;
  const output = {
    outputHash: proven.outputHash ?? ANSWER,
    promptTokens: proven.promptTokens ?? 20,
    completionTokens: proven.completionTokens ?? 300,
  };
  const message = proofMessage({
    programId: PROGRAM_ID,
    job,
    worker,
    attempt: proven.attempt ?? 1,
    ...output,
  });
  const key = proven.key ?? world.proofKey;
  return [
    ed25519Instruction({ publicKey: key.publicKey, message, signature: sign(message, key) }),
    jobProve({ job, worker, ed25519InstructionIndex: index, ...output }),
  ];
}

export const settle = (
  world: World,
  job: PublicKey,
  choice: Partial<Parameters<typeof jobSettle>[0]> = {},
): TransactionInstruction =>
  jobSettle({
    ...byGateway(world),
    job,
    creditAccount: world.creditAccount,
    worker: world.worker,
    workerPayout: world.payout,
    deliveredHash: ANSWER,
    countedTokens: 300,
    ...choice,
  });

export const fail = (
  world: World,
  job: PublicKey,
  choice: Partial<Parameters<typeof jobFail>[0]> = {},
): TransactionInstruction =>
  jobFail({
    ...byGateway(world),
    job,
    creditAccount: world.creditAccount,
    reason: 1,
    deliveredHash: new Uint8Array(32),
    countedTokens: 0,
    ...choice,
  } as Parameters<typeof jobFail>[0]);

export const refund = (world: World, job: PublicKey): TransactionInstruction =>
  jobRefund({ job, creditAccount: world.creditAccount });

export const dispute = (
  world: World,
  job: PublicKey,
  choice: Partial<Parameters<typeof jobDispute>[0]> = {},
): TransactionInstruction =>
  jobDispute({
    signer: world.wallet.publicKey,
    job,
    creditAccount: world.creditAccount,
    clientHash: hashOf('something else'),
    ...choice,
  });

export const STATUS = {
  pending: 0,
  processing: 1,
  settling: 2,
  settled: 3,
  failed: 4,
  refunded: 5,
  disputed: 6,
} as const;

/** Brings a fresh job to a status by the shortest way. */
export async function jobIn(
  world: World,
  status: keyof typeof STATUS,
  choice: LockChoice & Proven = {},
): Promise<PublicKey> {
  const { chain, hotSigner, wallet } = world;
  const job = await lockJob(world, choice);
  if (status === 'pending') return job;
  if (status === 'failed') {
    await chain.send([fail(world, job)], [hotSigner]);
    return job;
  }
  if (status === 'refunded') {
    await chain.setTime((await chain.now()) + 121n);
    await chain.send([refund(world, job)]);
    return job;
  }
  await chain.send([acknowledge(world, job)], [hotSigner]);
  if (status === 'processing') return job;
  await chain.send(prove(world, job, choice));
  if (status === 'settling') return job;
  await chain.send([settle(world, job)], [hotSigner]);
  if (status === 'disputed') await chain.send([dispute(world, job)], [wallet]);
  return job;
}
