import {
  Ed25519Program,
  Keypair,
  PublicKey,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import {
  createAddresses,
  ed25519Instruction,
  jobAcknowledge,
  jobClose,
  jobLock,
  jobProve,
  jobSettle,
} from '../client/index.ts';
import { computeBudget } from '../client/sender/transaction.ts';
import { SIGNATURE_BYTES, TRANSACTION_BYTES_MAX } from '../client/wire/index.ts';

/** What every cluster takes for a signature; one that the ed25519 program verifies counts as one. */
const LAMPORTS_PER_SIGNATURE = 5_000;

const compile = (instructions: readonly TransactionInstruction[], feePayer: PublicKey) =>
  new Transaction({ feePayer, recentBlockhash: PublicKey.default.toBase58() })
    .add(...instructions)
    .compileMessage();

/** Whether the network passes on a transaction with these instructions. */
function fits(instructions: readonly TransactionInstruction[], feePayer: PublicKey): boolean {
  const message = compile(instructions, feePayer);
  const signatures = message.header.numRequiredSignatures;
  const lengthBytes = 1;
  const bytes = lengthBytes + signatures * SIGNATURE_BYTES + message.serialize().length;
  return bytes <= TRANSACTION_BYTES_MAX.legacy;
}

/**
 * The fee of a transaction with these instructions, without a price for priority.
 *
 * @throws RangeError when they are too large for one transaction
 */
export function feeLamports(
  instructions: readonly TransactionInstruction[],
  feePayer: PublicKey,
): number {
  if (!fits(instructions, feePayer)) throw new RangeError('too large for one transaction');
  const signatures = compile(instructions, feePayer).header.numRequiredSignatures;
  const verified = instructions
    .filter(({ programId }) => programId.equals(Ed25519Program.programId))
    .reduce((sum, { data }) => sum + data.readUInt8(0), 0);
  return (signatures + verified) * LAMPORTS_PER_SIGNATURE;
}

/**
 * How many of a kind share a transaction at most.
 *
 * @param compose makes the transaction's instructions for so many jobs
 */
export function largestBatch(
  compose: (jobs: number) => readonly TransactionInstruction[],
  feePayer: PublicKey,
): number {
  let jobs = 1;
  while (fits(compose(jobs + 1), feePayer)) jobs += 1;
  return jobs;
}

/** A proof's message has this many bytes; what they say is no matter to a fee. */
const PROOF_BYTES = 149;
const HASH = new Uint8Array(32);

/** What one job pays the ledger, in lamports, and how many jobs share its transactions. */
interface JobFees {
  locks_per_transaction: number;
  closings_per_transaction: number;
  lock: number;
  /** Zero where it travels with the settlement. */
  acknowledge: number;
  prove_and_settle: number;
  close: number;
  total: number;
}

const anyKey = (): PublicKey => Keypair.generate().publicKey;

/** Who pays the fees and who signs for the gateway. */
interface Signers {
  payer: PublicKey;
  signer: PublicKey;
}

/** The instructions of a job's life, for jobs of different wallets with one worker and model. */
function instructionsFor({ payer, signer }: Signers) {
  const [gateway, worker, workerPayout] = [anyKey(), anyKey(), anyKey()];
  const actor = { signer, gateway };
  const lock = (): TransactionInstruction =>
    jobLock({
      ...actor,
      payer,
      wallet: anyKey(),
      modelId: 'any',
      jobId: HASH.slice(16),
      tokenLimit: 1,
      maxCredits: 1n,
    });
  const acknowledge = (job: PublicKey): TransactionInstruction =>
    jobAcknowledge({ ...actor, job, worker, attempt: 1 });
  const proveAndSettle = (job: PublicKey): TransactionInstruction[] => [
    ed25519Instruction({
      publicKey: anyKey(),
      message: new Uint8Array(PROOF_BYTES),
      signature: new Uint8Array(64),
    }),
    jobProve({
      job,
      worker,
      ed25519InstructionIndex: 0,
      outputHash: HASH,
      promptTokens: 1,
      completionTokens: 1,
    }),
    jobSettle({
      ...actor,
      job,
      worker,
      workerPayout,
      creditAccount: createAddresses().creditAccount(anyKey()),
      deliveredHash: HASH,
      countedTokens: 1,
    }),
  ];
  const close = (): TransactionInstruction => jobClose({ job: anyKey(), rentPayer: payer });
  return { lock, acknowledge, proveAndSettle, close };
}

const total = (fees: Omit<JobFees, 'total'>): JobFees => ({
  ...fees,
  total: fees.lock + fees.acknowledge + fees.prove_and_settle + fees.close,
});

function feesOf(signers: Signers): { alone: JobFees; batched: JobFees } {
  const { payer } = signers;
  const { lock, acknowledge, proveAndSettle, close } = instructionsFor(signers);
  const bounded = (instructions: TransactionInstruction[]): TransactionInstruction[] => [
    ...instructions,
    ...computeBudget({ computeUnits: 1, microLamports: 1 }),
  ];
  const fee = (...instructions: TransactionInstruction[]): number =>
    feeLamports(bounded(instructions), payer);
  const many = (one: () => TransactionInstruction) => (jobs: number) =>
    bounded(Array.from({ length: jobs }, one));
  const locks = largestBatch(many(lock), payer);
  const closings = largestBatch(many(close), payer);
  const job = anyKey();
  return {
    alone: total({
      locks_per_transaction: 1,
      closings_per_transaction: 1,
      lock: fee(lock()),
      acknowledge: fee(acknowledge(job)),
      prove_and_settle: fee(...proveAndSettle(job)),
      close: fee(close()),
    }),
    batched: total({
      locks_per_transaction: locks,
      closings_per_transaction: closings,
      lock: Math.ceil(feeLamports(many(lock)(locks), payer) / locks),
      acknowledge: 0,
      prove_and_settle: fee(acknowledge(job), ...proveAndSettle(job)),
      close: Math.ceil(feeLamports(many(close)(closings), payer) / closings),
    }),
  };
}

/**
 * The fees of a job in each shape its transactions can have, without a price for priority. Each goes
 * alone, or locks and closings share packets, and the acknowledgement goes with the settlement. One
 * key pays and signs, or the fee payer is apart from the gateway's signer.
 */
export function jobFees() {
  const payer = anyKey();
  return {
    one_key: feesOf({ payer, signer: payer }),
    separate_fee_payer: feesOf({ payer, signer: anyKey() }),
  };
}
