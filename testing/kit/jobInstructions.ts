import type { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import {
  createJobIds,
  type DisputeOutcome,
  type Job,
  type JobStatus,
  jobAcknowledge,
  jobComplete,
  jobDispute,
  jobFail,
  jobLock,
  jobProve,
  jobRefund,
  jobSettle,
  PROGRAM_ID,
  proofMessage,
  receiptMessage,
  type SignedMessage,
  signHashed,
} from '../../programs/client/index.ts';
import { type Cast, hashOf } from './cast.ts';
import type { Chain } from './chain.ts';
import { STANDARD_MODEL } from './setUp.ts';

/** The parties of one job. */
export interface JobParties extends Pick<Cast, 'chain' | 'gateway' | 'hotSigner'> {
  readonly wallet: Keypair;
  readonly creditAccount: PublicKey;
  /** The Worker account. */
  readonly worker: PublicKey;
  readonly payout: PublicKey;
  readonly proofKey: Keypair;
}

/** The default hash of the whole answer. */
export const ANSWER = hashOf('the whole answer');
/** The default commitment to the request. */
export const REQUEST = hashOf('the salted request');

const U64_MAX = 2n ** 64n - 1n;

export interface LockChoice {
  /** Signs the lock; by default the gateway's hot signer. */
  signer?: Keypair;
  /** Null: no gateway account is passed. */
  gateway?: PublicKey | null;
  tokenLimit?: number;
  /** By default more than any job may cost. */
  maxCredits?: bigint;
  modelId?: string;
  /** The id's time relative to the Clock's. */
  idAgeMs?: number;
}

const jobIds = new WeakMap<Chain, ReturnType<typeof createJobIds>>();

/** Each chain has its own: their clocks differ. */
function jobIdsOf(chain: Chain): ReturnType<typeof createJobIds> {
  const ids = jobIds.get(chain) ?? createJobIds();
  jobIds.set(chain, ids);
  return ids;
}

/** A job_lock, the address of its Job, and the id's 16 bytes. */
export async function composeLock(parties: JobParties, choice: LockChoice = {}) {
  const { chain, wallet, creditAccount } = parties;
  const nowMs = Number(await chain.now()) * 1_000 - (choice.idAgeMs ?? 0);
  const { bytes, address } = jobIdsOf(chain)({ nowMs, creditAccount });
  const instruction = jobLock({
    payer: chain.payer.publicKey,
    signer: (choice.signer ?? parties.hotSigner).publicKey,
    gateway: choice.gateway === null ? undefined : (choice.gateway ?? parties.gateway),
    wallet: wallet.publicKey,
    modelId: choice.modelId ?? STANDARD_MODEL.id,
    jobId: bytes,
    tokenLimit: choice.tokenLimit ?? 2_000,
    maxCredits: choice.maxCredits ?? U64_MAX,
  });
  return { instruction, job: address, jobId: bytes };
}

/** The default signer for the controller. */
const byGateway = ({ hotSigner, gateway }: Pick<JobParties, 'hotSigner' | 'gateway'>) => ({
  signer: hotSigner.publicKey,
  gateway,
});

export const acknowledge = (
  parties: JobParties,
  job: PublicKey,
  {
    attempt = 1,
    worker = parties.worker,
    ...actor
  }: Partial<Parameters<typeof jobAcknowledge>[0]> = {},
): TransactionInstruction =>
  jobAcknowledge({ ...byGateway(parties), job, worker, attempt, ...actor });

export interface Proven {
  outputHash?: Uint8Array;
  promptTokens?: number;
  completionTokens?: number;
  statement?: Uint8Array;
  attempt?: number;
  key?: Keypair;
  worker?: PublicKey;
  /** In place of the key's. */
  signature?: Uint8Array;
}

/** What a worker proves, and its signature. */
function proofOf(parties: Pick<JobParties, 'worker' | 'proofKey'>, job: PublicKey, proven: Proven) {
  const worker = proven.worker ?? parties.worker;
  const attempt = proven.attempt ?? 1;
  const output = {
    outputHash: proven.outputHash ?? ANSWER,
    promptTokens: proven.promptTokens ?? 20,
    completionTokens: proven.completionTokens ?? 300,
    statement: proven.statement ?? REQUEST,
  };
  const message = proofMessage({ programId: PROGRAM_ID, job, worker, attempt, ...output });
  const signature = proven.signature ?? signHashed(message, proven.key ?? parties.proofKey);
  return { worker, attempt, ...output, signature };
}

export const prove = (
  parties: JobParties,
  job: PublicKey,
  proven: Proven = {},
): TransactionInstruction => jobProve({ job, ...proofOf(parties, job, proven) });

/** Acknowledges, proves and settles at once. */
export const complete = (
  parties: Omit<JobParties, 'chain' | 'wallet'>,
  job: PublicKey,
  { key, ...choice }: Partial<Parameters<typeof jobComplete>[0]> & { key?: Keypair } = {},
): TransactionInstruction => {
  const proof = proofOf(parties, job, { ...choice, key: key ?? parties.proofKey });
  return jobComplete({
    ...byGateway(parties),
    creditAccount: parties.creditAccount,
    workerPayout: parties.payout,
    countedTokens: proof.completionTokens,
    ...choice,
    job,
    ...proof,
  });
};

export const settle = (
  parties: JobParties,
  job: PublicKey,
  choice: Partial<Parameters<typeof jobSettle>[0]> = {},
): TransactionInstruction =>
  jobSettle({
    ...byGateway(parties),
    job,
    creditAccount: parties.creditAccount,
    worker: parties.worker,
    workerPayout: parties.payout,
    deliveredHash: ANSWER,
    countedTokens: 300,
    ...choice,
  });

export const fail = (
  parties: JobParties,
  job: PublicKey,
  choice: Partial<Parameters<typeof jobFail>[0]> = {},
): TransactionInstruction =>
  jobFail({
    ...byGateway(parties),
    job,
    creditAccount: parties.creditAccount,
    reason: 'worker_error',
    deliveredHash: new Uint8Array(32),
    countedTokens: 0,
    ...choice,
  });

export const refund = (parties: JobParties, job: PublicKey): TransactionInstruction =>
  jobRefund({ job, creditAccount: parties.creditAccount });

/** The wallet's dispute, with the hash of another text than the proven one. */
export const dispute = (
  parties: JobParties,
  job: PublicKey,
  choice: Partial<Parameters<typeof jobDispute>[0]> = {},
): TransactionInstruction =>
  jobDispute({
    signer: parties.wallet.publicKey,
    job,
    creditAccount: parties.creditAccount,
    clientHash: hashOf('something else'),
    ...choice,
  });

/** One second after the dispute window of a job that is settled now. */
export const PAST_WINDOW_SECONDS = 61n;

/** The worker's proofs of the given job that contradict each other: the recorded one, then another. */
export function conflictingProofs(
  { proofKey }: Pick<JobParties, 'proofKey'>,
  job: PublicKey,
  { worker, attempt, outputHash, promptTokens, completionTokens }: Job,
): [SignedMessage, SignedMessage] {
  const signed = (hash: Uint8Array): SignedMessage => {
    const message = proofMessage({
      programId: PROGRAM_ID,
      job,
      worker,
      attempt,
      outputHash: hash,
      promptTokens,
      completionTokens,
      statement: REQUEST,
    });
    return { publicKey: proofKey.publicKey, message, signature: signHashed(message, proofKey) };
  };
  return [signed(outputHash), signed(hashOf('another answer'))];
}

/** A receipt by the hot signer for another text than the proven one. */
export function otherReceipt(
  { hotSigner }: Pick<JobParties, 'hotSigner'>,
  job: PublicKey,
): SignedMessage {
  const outputHash = hashOf('another answer');
  const message = receiptMessage({ programId: PROGRAM_ID, job, outputHash, statement: REQUEST });
  return { publicKey: hotSigner.publicKey, message, signature: signHashed(message, hotSigner) };
}

/** The evidence that the program demands for a verdict. */
export function evidenceFor(
  parties: Pick<JobParties, 'proofKey' | 'hotSigner'>,
  job: PublicKey,
  account: Job,
  verdict: DisputeOutcome,
): SignedMessage[] {
  if (verdict === 'upheld_worker') return conflictingProofs(parties, job, account);
  return verdict === 'upheld_gateway' ? [otherReceipt(parties, job)] : [];
}

/** One second after the deadline of a job that is locked now. */
const PAST_DEADLINE_SECONDS = 121n;

/** Locks a job and returns its address. */
export async function lockJob(parties: JobParties, choice: LockChoice = {}): Promise<PublicKey> {
  const { instruction, job } = await composeLock(parties, choice);
  await parties.chain.send([instruction], [choice.signer ?? parties.hotSigner]);
  return job;
}

/** Brings a fresh job to a status by the shortest way. */
export async function jobIn(
  parties: JobParties,
  status: JobStatus,
  choice: LockChoice & Proven = {},
): Promise<PublicKey> {
  const { chain, hotSigner, wallet } = parties;
  const job = await lockJob(parties, choice);
  if (status === 'pending') return job;
  if (status === 'failed') {
    await chain.send([fail(parties, job)], [hotSigner]);
    return job;
  }
  if (status === 'refunded') {
    await chain.setTime((await chain.now()) + PAST_DEADLINE_SECONDS);
    await chain.send([refund(parties, job)]);
    return job;
  }
  await chain.send([acknowledge(parties, job)], [hotSigner]);
  if (status === 'processing') return job;
  await chain.send([prove(parties, job, choice)]);
  if (status === 'settling') return job;
  const deliveredHash = choice.outputHash ?? ANSWER;
  await chain.send([settle(parties, job, { deliveredHash })], [hotSigner]);
  if (status === 'disputed') await chain.send([dispute(parties, job)], [wallet]);
  return job;
}
