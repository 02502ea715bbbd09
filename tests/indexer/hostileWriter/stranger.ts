import { Keypair, type PublicKey, type TransactionInstruction } from '@solana/web3.js';
import type { FailureReason } from '../../../programs/client/generated/vocabulary.ts';
import {
  createJobId,
  fetchJob,
  jobAcknowledge,
  jobComplete,
  jobFail,
  jobLock,
  jobProve,
  jobSettle,
  PROGRAM_ID,
  proofMessage,
  type SignedMessage,
  signHashed,
} from '../../../programs/client/index.ts';
import {
  associatedTokenAddress,
  tokenAccountCreate,
  tokenMintTo,
} from '../../../programs/client/token/instructions.ts';
import { addresses, type Scene } from '../../../testing/indexer/scene.ts';
import { conflictingProofs, REQUEST } from '../../../testing/kit/jobInstructions.ts';
import { HOSTILE_SIGNER } from '../../../testing/ledger/hostileCaller.ts';
import { readClockSeconds } from '../../../testing/ledger/ledger.ts';
import type { HostileModel } from './catalog.ts';
import type { EntryPath } from './entryPaths.ts';
import { U32_MAX, U64_MAX } from './extremes.ts';

const LAMPORTS = 10e9;
/** More than the program lets anybody bring in. */
const BASE_UNITS = 2n * 10n ** 17n;

/** Text, as far as the program knows. */
export interface Output {
  hash: Uint8Array;
  /** Of the prompt and of the answer. */
  tokens: number;
}

/** Somebody who is wallet, operator of a Gateway and worker in one, and goes by one entryPath only. */
export interface Stranger {
  readonly entryPath: EntryPath;
  readonly key: PublicKey;
  readonly creditAccount: PublicKey;
  readonly worker: PublicKey;
  readonly proofKey: PublicKey;
  /** Token accounts. */
  readonly credits: PublicKey;
  readonly stakes: PublicKey;
  /** Of the transactions that succeeded. */
  readonly signatures: string[];
  /** @throws Error when the ledger refuses it */
  send(instructions: TransactionInstruction[], signers?: Keypair[]): Promise<void>;
  lock(model: HostileModel): Promise<PublicKey>;
  acknowledge(job: PublicKey, attempt: number): Promise<void>;
  prove(job: PublicKey, attempt: number, output: Output): Promise<void>;
  settle(job: PublicKey, output: Output): Promise<void>;
  /** The three at once. */
  complete(job: PublicKey, attempt: number, output: Output): Promise<void>;
  fail(job: PublicKey, reason: FailureReason, delivered: Output): Promise<void>;
  /** Signs what convicts its worker. */
  contradict(job: PublicKey): Promise<SignedMessage[]>;
}

/** @param isProgram whether it is an address that only the hostile program can sign for */
export async function createStranger(
  { ledger, service, send: sendAsOperator }: Scene,
  entryPath: EntryPath,
  isProgram: boolean,
): Promise<Stranger> {
  const keypair = Keypair.generate();
  const proofKeypair = Keypair.generate();
  const key = isProgram ? HOSTILE_SIGNER : keypair.publicKey;
  const creditAccount = addresses.creditAccount(key);
  const worker = addresses.worker(key);
  const signatures: string[] = [];
  await ledger.fundLamports(key, LAMPORTS);
  const payer = ledger.payer.publicKey;
  const fund = (mint: PublicKey) => {
    const account = associatedTokenAddress(mint, key);
    return {
      account,
      instructions: [
        tokenAccountCreate({ payer, owner: key, mint }),
        tokenMintTo({ mint, account, authority: payer, baseUnits: BASE_UNITS }),
      ],
    };
  };
  const credits = fund(service.mints.credit);
  const stakes = fund(service.mints.stake);
  await sendAsOperator([...credits.instructions, ...stakes.instructions], []);

  const send: Stranger['send'] = async (instructions, signers = []) => {
    const accounts = instructions.flatMap(({ keys }) => keys);
    const isSigned = accounts.some(({ pubkey, isSigner }) => isSigner && pubkey.equals(key));
    const own = isSigned && !isProgram ? [keypair] : [];
    const { meta, transaction } = await entryPath.send(instructions, [...own, ...signers]);
    if (meta?.err) throw new Error(`${entryPath.name}: ${meta.logMessages?.join('\n')}`);
    signatures.push(...transaction.signatures.slice(0, 1));
  };
  const actor = { signer: key };
  const proofOf = (job: PublicKey, attempt: number, { hash, tokens }: Output) => {
    const counts = { promptTokens: tokens, completionTokens: tokens };
    const proven = { outputHash: hash, ...counts, statement: REQUEST };
    const message = proofMessage({ programId: PROGRAM_ID, job, worker, attempt, ...proven });
    return { job, worker, ...proven, signature: signHashed(message, proofKeypair) };
  };
  return {
    ...{ entryPath, key, creditAccount, worker, signatures, send },
    proofKey: proofKeypair.publicKey,
    credits: credits.account,
    stakes: stakes.account,
    async lock(model) {
      const nowMs = Number(await readClockSeconds(ledger.connection)) * 1_000;
      const { bytes, address } = createJobId({ nowMs, creditAccount });
      const { tokenLimit } = model;
      const identity = { payer: key, wallet: key, modelId: model.id, jobId: bytes };
      await send([jobLock({ ...actor, ...identity, tokenLimit, maxCredits: U64_MAX })]);
      return address;
    },
    acknowledge: (job, attempt) => send([jobAcknowledge({ ...actor, job, worker, attempt })]),
    prove: (job, attempt, output) => send([jobProve(proofOf(job, attempt, output))]),
    settle: (job, { hash, tokens }) =>
      send([
        jobSettle({
          ...{ ...actor, job, creditAccount, worker, workerPayout: credits.account },
          ...{ deliveredHash: hash, countedTokens: tokens },
        }),
      ]),
    complete: (job, attempt, output) =>
      send([
        jobComplete({
          ...{ ...actor, ...proofOf(job, attempt, output), attempt, creditAccount },
          ...{ workerPayout: credits.account, countedTokens: U32_MAX },
        }),
      ]),
    fail: (job, reason, { hash, tokens }) =>
      send([
        jobFail({
          ...{ ...actor, job, creditAccount, reason },
          ...{ deliveredHash: hash, countedTokens: tokens },
        }),
      ]),
    async contradict(job) {
      const account = await fetchJob(ledger.connection, job);
      if (!account) throw new Error('the job is not on the ledger');
      return conflictingProofs({ proofKey: proofKeypair }, job, account);
    },
  };
}
