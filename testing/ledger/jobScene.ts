import { createHash } from 'node:crypto';
import {
  type Connection,
  type Keypair,
  LAMPORTS_PER_SOL,
  type PublicKey,
  SYSVAR_CLOCK_PUBKEY,
  type TransactionInstruction,
} from '@solana/web3.js';
import type { ProfileName } from '../../localnet/profile.ts';
import type { DisputeOutcome } from '../../programs/client/generated/vocabulary.ts';
import {
  createAddresses,
  createJobId,
  disputeExpire,
  fetchJob,
  formatReceipt,
  jobAcknowledge,
  jobClose,
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
  signHashed,
  verdictInstruction,
} from '../../programs/client/index.ts';
import { associatedTokenAddress } from '../../programs/client/token/instructions.ts';
import { submit } from '../../stack/operator.ts';
import { evidenceFor, REQUEST } from '../kit/jobInstructions.ts';
import { advanceToVerdict } from './disputes.ts';
import {
  advanceSeconds,
  openService,
  readClockSeconds,
  type Service,
  startLedger,
  type TestLedger,
} from './ledger.ts';
import { readTokenAccount, tokenAccountClose, tokenTransfer } from './tokens.ts';
import { sendVersionOne } from './versionOne.ts';

export const addresses = createAddresses();

/** Of the completion, unless a test says otherwise. */
const TOKENS = 600;
/** The answer to every job. */
export const OUTPUT = 'the whole answer';
const OUTPUT_HASH = createHash('sha256').update(OUTPUT).digest();
const CLIENT_HASH = createHash('sha256').update('another answer').digest();
const AMENDED_HASH = createHash('sha256').update('what the wallet read').digest();

/** How a job is answered; by default with `OUTPUT`, 600 tokens, at the first attempt. */
export interface Answering {
  readonly tokens?: number;
  readonly attempt?: number;
  readonly outputHash?: Uint8Array;
  readonly statement?: Uint8Array;
}

/** A proof that the worker records itself. */
export type Recorded = Answering & { readonly promptTokens?: number };

export interface LockedJob {
  readonly address: PublicKey;
  readonly idBytes: Uint8Array;
}

/** A ledger with the program in service, and verbs for what happens to jobs there. */
export interface JobScene {
  ledger: TestLedger;
  service: Service;
  /** One transaction; the operator pays, and the Gateway's hot signer signs too. */
  send(instructions: TransactionInstruction[], signers?: Keypair[]): Promise<void>;
  wait(seconds: number): Promise<void>;
  /** Locks several jobs in one transaction. */
  lock(terms: { count: number; tokenLimit: number }): Promise<LockedJob[]>;
  acknowledge(job: PublicKey, attempt?: number): Promise<void>;
  /** Proof alone, as anybody may send it. */
  prove(job: PublicKey, recorded?: Recorded): Promise<void>;
  /** Proof and settlement in one transaction; the controller counts one token less. */
  settle(job: PublicKey, options?: { tokens?: number; attempt?: number }): Promise<void>;
  /** The same with the acknowledgement, in three instructions. */
  settleAtOnce(job: PublicKey, options?: { tokens?: number }): Promise<void>;
  /** All of it in one instruction. */
  complete(job: PublicKey, options?: Answering): Promise<void>;
  /** Several in one transaction, which only the Gateway's hot signer signs. */
  completeTogether(jobs: readonly (Answering & { job: PublicKey })[]): Promise<void>;
  fail(job: PublicKey): Promise<void>;
  refund(job: PublicKey): Promise<void>;
  /** By the controller. */
  dispute(job: PublicKey): Promise<void>;
  /** With a hash of its own, also in place of its controller's. */
  disputeAsWallet(job: PublicKey): Promise<void>;
  /** The arbiter's verdict, with its evidence, as soon as it can be given. */
  resolve(job: PublicKey, verdict: DisputeOutcome): Promise<void>;
  expire(job: PublicKey): Promise<void>;
  close(jobs: readonly PublicKey[]): Promise<void>;
  /** From now on the worker cannot be paid. */
  closePayout(): Promise<void>;
  receipt(job: PublicKey, statement?: Uint8Array): string;
}

/**
 * @param options.version of all its transactions after the service was opened
 * @param options.profile the ledger's
 */
export async function createJobScene({
  version = 0,
  ...options
}: {
  version?: 0 | 1;
  profile?: ProfileName;
} = {}): Promise<JobScene> {
  const ledger = await startLedger(options);
  return openJobScene({ ledger, service: await openService(ledger), version });
}

/**
 * The same with a service that is open already.
 *
 * @param options.advance how time passes on its ledger, when it is not a local one
 */
export function openJobScene(options: {
  ledger: TestLedger;
  service: Service;
  version?: 0 | 1;
  advance?: typeof advanceSeconds;
}): JobScene {
  const { ledger, service, version = 0, advance = advanceSeconds } = options;
  const { connection } = ledger;
  const { operator, hotSigner, gateway, creditAccount, worker, arbiter } = service;
  const payer = operator.authority.publicKey;
  const owner = service.workerAuthority.publicKey;
  const workerPayout = associatedTokenAddress(service.mints.credit, owner);
  const actor = { signer: hotSigner.publicKey, gateway };
  const send: JobScene['send'] = async (instructions, signers = [hotSigner]) => {
    if (version === 0) await submit(operator, instructions, signers);
    else await sendVersionOne(ledger, instructions, [operator.authority, ...signers]);
  };

  /** The worker's proof of the answer. */
  function proofOf(
    job: PublicKey,
    {
      attempt = 1,
      promptTokens = 10,
      tokens = TOKENS,
      outputHash = OUTPUT_HASH,
      statement = REQUEST,
    }: Recorded = {},
  ) {
    const output = { outputHash, promptTokens, completionTokens: tokens };
    const proven = { ...output, statement };
    const message = proofMessage({ programId: PROGRAM_ID, job, worker, attempt, ...proven });
    const signature = signHashed(message, service.proofKey);
    return { job, worker, attempt, ...proven, signature };
  }

  const settlement = (job: PublicKey, { tokens = TOKENS, attempt = 1 } = {}) => [
    jobProve(proofOf(job, { attempt, tokens })),
    jobSettle({
      ...actor,
      job,
      creditAccount,
      worker,
      workerPayout,
      deliveredHash: OUTPUT_HASH,
      countedTokens: tokens - 1,
    }),
  ];
  const completion = (job: PublicKey, answering: Answering = {}) =>
    jobComplete({
      ...actor,
      ...proofOf(job, answering),
      creditAccount,
      workerPayout,
      countedTokens: (answering.tokens ?? TOKENS) - 1,
    });

  return {
    ledger,
    service,
    send,
    async wait(seconds) {
      await advance(connection, seconds);
      await untilClockKnowsSlot(connection);
    },
    async lock({ count, tokenLimit }) {
      const nowMs = Number(await readClockSeconds(connection)) * 1_000;
      const ids = Array.from({ length: count }, () => createJobId({ nowMs, creditAccount }));
      await send(
        ids.map(({ bytes }) =>
          jobLock({
            ...actor,
            payer,
            wallet: service.wallet.publicKey,
            modelId: service.model.id,
            jobId: bytes,
            tokenLimit,
            maxCredits: 1_000n,
          }),
        ),
      );
      return ids.map(({ address, bytes }) => ({ address, idBytes: bytes }));
    },
    acknowledge: (job, attempt = 1) => send([jobAcknowledge({ ...actor, job, worker, attempt })]),
    prove: (job, recorded) => send([jobProve(proofOf(job, recorded))], []),
    settle: (job, options) => send(settlement(job, options)),
    settleAtOnce: (job, options) =>
      send([jobAcknowledge({ ...actor, job, worker, attempt: 1 }), ...settlement(job, options)]),
    complete: (job, options) => send([completion(job, options)]),
    async completeTogether(jobs) {
      await ledger.fundLamports(hotSigner.publicKey, LAMPORTS_PER_SOL);
      const instructions = jobs.map(({ job, ...answering }) => completion(job, answering));
      if (version === 0) await submit({ ...operator, authority: hotSigner }, instructions);
      else await sendVersionOne(ledger, instructions, [hotSigner]);
    },
    fail: (job) =>
      send([
        jobFail({
          ...actor,
          job,
          creditAccount,
          reason: 'worker_error',
          deliveredHash: OUTPUT_HASH,
          countedTokens: 0,
        }),
      ]),
    refund: (job) => send([jobRefund({ job, creditAccount })], []),
    dispute: (job) => send([jobDispute({ ...actor, job, creditAccount, clientHash: CLIENT_HASH })]),
    disputeAsWallet: (job) => {
      const { wallet } = service;
      const own = { signer: wallet.publicKey, clientHash: AMENDED_HASH };
      return send([jobDispute({ ...own, job, creditAccount })], [wallet]);
    },
    async resolve(job, verdict) {
      const account = await fetchJob(connection, job);
      if (!account) throw new Error('the job is not on the ledger');
      const parties = { proofKey: service.proofKey, hotSigner };
      const evidence = evidenceFor(parties, job, account, verdict);
      await advanceToVerdict(connection, account, advance);
      const named = { arbiter: arbiter.publicKey, job, creditAccount, worker, verdict };
      await send([verdictInstruction(evidence, named)], [arbiter]);
    },
    expire: (job) => send([disputeExpire({ job, creditAccount })], []),
    close: (jobs) =>
      send(
        jobs.map((job) => jobClose({ job, rentPayer: payer })),
        [],
      ),
    async closePayout() {
      const { amount } = await readTokenAccount(connection, workerPayout);
      const elsewhere = associatedTokenAddress(service.mints.credit, payer);
      await send(
        [
          tokenTransfer({ source: workerPayout, destination: elsewhere, owner, baseUnits: amount }),
          tokenAccountClose({ account: workerPayout, destination: payer, owner }),
        ],
        [service.workerAuthority],
      );
    },
    receipt(job, statement = REQUEST) {
      const delivered = { outputHash: OUTPUT_HASH, statement };
      const message = receiptMessage({ programId: PROGRAM_ID, job, ...delivered });
      return formatReceipt(hotSigner.publicKey, signHashed(message, hotSigner));
    },
  };
}

/**
 * For a moment after it was moved, the local ledger's Clock names a slot far from the ledger's
 * own, and events would bear it.
 */
async function untilClockKnowsSlot(connection: Connection): Promise<void> {
  let lag: bigint;
  do {
    const clock = await connection.getAccountInfo(SYSVAR_CLOCK_PUBKEY, 'confirmed');
    if (!clock) throw new Error('the ledger has no Clock');
    lag = BigInt(await connection.getSlot('confirmed')) - clock.data.readBigUInt64LE(0);
  } while (lag > 1_000n);
}
