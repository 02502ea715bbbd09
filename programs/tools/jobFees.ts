import { Keypair, type PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { createAddresses, jobClose, jobComplete, jobLock } from '../client/index.ts';
import { CALLS_MAX, computeBudget, KEYS_MAX } from '../client/sender/transaction.ts';
import {
  compileMessage,
  encodeMessage,
  type MessageVersion,
  SIGNATURE_BYTES,
  TRANSACTION_BYTES_MAX,
} from '../client/wire/index.ts';

/** What every cluster takes for a signature. */
const LAMPORTS_PER_SIGNATURE = 5_000;
const BLOCKHASH = new Uint8Array(32);

/** Who pays for a transaction, and how it is written. */
interface Form {
  readonly version: Exclude<MessageVersion, 0>;
  readonly feePayer: PublicKey;
}

/** With limits of units and data, and a price for priority: none of them changes what it counts here. */
function compile(instructions: readonly TransactionInstruction[], { version, feePayer }: Form) {
  const limits = { computeUnits: 1, microLamports: 1 };
  const budget = version === 1 ? [] : computeBudget(limits);
  const config = { computeUnitLimit: 1, loadedAccountsDataSizeLimit: 1, priorityFeeLamports: 1n };
  return compileMessage({
    ...{ version, feePayer, blockhash: BLOCKHASH },
    instructions: [...instructions, ...budget],
    ...(version === 1 && { config }),
  });
}

/** Whether the network passes on a transaction with these instructions. */
function fits(instructions: readonly TransactionInstruction[], form: Form): boolean {
  const message = compile(instructions, form);
  const lengthBytes = 1;
  const bytes =
    lengthBytes + message.signers.length * SIGNATURE_BYTES + encodeMessage(message).length;
  return bytes <= TRANSACTION_BYTES_MAX[form.version] && message.keys.length <= KEYS_MAX;
}

/**
 * The fee of a transaction with these instructions, without the price for priority.
 *
 * @throws RangeError when they are too large for one transaction
 */
export function feeLamports(instructions: readonly TransactionInstruction[], form: Form): number {
  if (!fits(instructions, form)) throw new RangeError('too large for one transaction');
  return compile(instructions, form).signers.length * LAMPORTS_PER_SIGNATURE;
}

/** A step of a job, and how many instructions it takes with those that it calls. */
interface Step {
  readonly calls: number;
  compose(): TransactionInstruction;
}

/** How many of a kind share a transaction at most. */
export function largestBatch({ calls, compose }: Step, form: Form): number {
  const instructions = [compose()];
  const budget = compile([], form).instructions.length;
  while ((instructions.length + 1) * calls + budget <= CALLS_MAX) {
    if (!fits([...instructions, compose()], form)) break;
    instructions.push(compose());
  }
  return instructions.length;
}

const HASH = new Uint8Array(32);

const anyKey = (): PublicKey => Keypair.generate().publicKey;

/** Who pays the fees and who signs for the gateway. */
interface Signers {
  payer: PublicKey;
  signer: PublicKey;
}

/** A wallet, and the worker that answers it. */
const anyPair = () => ({ wallet: anyKey(), worker: anyKey(), workerPayout: anyKey() });

/**
 * The steps of a job's life.
 *
 * @param pairOf the wallet and the worker of the next job
 */
function stepsFor({ payer, signer }: Signers, pairOf: () => ReturnType<typeof anyPair>) {
  const actor = { signer, gateway: anyKey() };
  // Each step emits an event, which is a call. A lock creates an account, and a completion pays two.
  const lock: Step = {
    calls: 3,
    compose: () =>
      jobLock({
        ...{ ...actor, payer, wallet: pairOf().wallet, modelId: 'any' },
        ...{ jobId: anyKey().toBytes().slice(16), tokenLimit: 1, maxCredits: 1n },
      }),
  };
  const complete: Step = {
    calls: 4,
    compose() {
      const { wallet, ...worker } = pairOf();
      const creditAccount = createAddresses().creditAccount(wallet);
      const output = { outputHash: HASH, promptTokens: 1, completionTokens: 1 };
      return jobComplete({
        ...{ ...actor, job: anyKey(), creditAccount, ...worker, attempt: 1, ...output },
        ...{ statement: HASH, signature: new Uint8Array(64), countedTokens: 1 },
      });
    },
  };
  const close: Step = { calls: 2, compose: () => jobClose({ job: anyKey(), rentPayer: payer }) };
  return { lock, complete, close };
}

/**
 * What one job pays the ledger, in lamports, and how many jobs share its transactions.
 *
 * @param most the most jobs that a transaction is for, where it could be for more
 */
function feesOf(steps: ReturnType<typeof stepsFor>, form: Form, most = CALLS_MAX) {
  const share = (step: Step) => {
    const jobs = Math.min(largestBatch(step, form), most);
    const instructions = Array.from({ length: jobs }, step.compose);
    return { jobs, lamports: Math.ceil(feeLamports(instructions, form) / jobs) };
  };
  const [lock, complete, close] = [share(steps.lock), share(steps.complete), share(steps.close)];
  return {
    locks_per_transaction: lock.jobs,
    completions_per_transaction: complete.jobs,
    closings_per_transaction: close.jobs,
    lock: lock.lamports,
    complete: complete.lamports,
    close: close.lamports,
    total: lock.lamports + complete.lamports + close.lamports,
  };
}

function shapesFor(signers: Signers) {
  const { payer: feePayer } = signers;
  const pair = anyPair();
  const any = stepsFor(signers, anyPair);
  const onePair = stepsFor(signers, () => pair);
  const legacy = { version: 'legacy', feePayer } as const;
  const versionOne = { version: 1, feePayer } as const;
  return {
    alone: feesOf(any, legacy, 1),
    legacy: feesOf(any, legacy),
    legacy_one_pair: feesOf(onePair, legacy),
    version_1: feesOf(any, versionOne),
    version_1_one_pair: feesOf(onePair, versionOne),
  };
}

/**
 * The fees of a job in each shape that its transactions can have, without a price for priority. Each
 * step goes alone, or as many as fit share a transaction, legacy or of version 1. Their jobs are of
 * any wallets and workers, or of one pair. One key signs and pays; a fee payer of its own is the
 * fall-back.
 */
export function jobFees() {
  const payer = anyKey();
  return {
    one_key: shapesFor({ payer, signer: payer }),
    separate_fee_payer: shapesFor({ payer, signer: anyKey() }),
  };
}
