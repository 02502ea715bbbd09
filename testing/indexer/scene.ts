import { createHash } from 'node:crypto';
import type { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import type { LedgerTransaction } from '../../indexer/fold/event.ts';
import { listPages } from '../../indexer/source/listPages.ts';
import { createRpc } from '../../indexer/source/rpc.ts';
import { createLedgerSource, type LedgerSource } from '../../indexer/source/source.ts';
import type { DisputeOutcome } from '../../programs/client/generated/vocabulary.ts';
import {
  createAddresses,
  createJobId,
  ed25519Instruction,
  fetchJob,
  jobAcknowledge,
  jobClose,
  jobDispute,
  jobFail,
  jobLock,
  jobProve,
  jobRefund,
  jobSettle,
  PROGRAM_ID,
  proofMessage,
  sign,
  verdictInstructions,
} from '../../programs/client/index.ts';
import { associatedTokenAddress } from '../../programs/client/token/instructions.ts';
import { submit } from '../../stack/operator.ts';
import { evidenceFor } from '../kit/jobInstructions.ts';
import { advanceToVerdict } from '../ledger/disputes.ts';
import {
  advanceSeconds,
  openService,
  readClockSeconds,
  type Service,
  startLedger,
  type TestLedger,
} from '../ledger/ledger.ts';

export const addresses = createAddresses();

const OUTPUT_HASH = createHash('sha256').update('the whole answer').digest();
const CLIENT_HASH = createHash('sha256').update('another answer').digest();

/** A ledger with the service on it, and functions for the steps of its parties. */
export interface Scene {
  ledger: TestLedger;
  service: Service;
  source: LedgerSource;
  /** Sends one transaction. The operator pays, and the Gateway's hot signer signs where required. */
  send(instructions: TransactionInstruction[], signers?: Keypair[]): Promise<void>;
  wait(seconds: number): Promise<void>;
  /** The whole history, oldest first, as the indexer reads it. */
  read(): Promise<LedgerTransaction[]>;
  lock(count?: number): Promise<PublicKey[]>;
  acknowledge(job: PublicKey, attempt?: number): Promise<void>;
  /** Proof and settlement of 600 tokens, 3 credits at the standard tier's rate, in one transaction. */
  settle(job: PublicKey): Promise<void>;
  fail(job: PublicKey): Promise<void>;
  refund(job: PublicKey): Promise<void>;
  dispute(job: PublicKey): Promise<void>;
  /** The arbiter's verdict, with its evidence, as soon as it can be given. */
  resolve(job: PublicKey, verdict: DisputeOutcome): Promise<void>;
  close(job: PublicKey): Promise<void>;
}

export async function createScene(): Promise<Scene> {
  const ledger = await startLedger();
  const { connection } = ledger;
  const service = await openService(ledger);
  const { operator, hotSigner, gateway, creditAccount, worker, arbiter } = service;
  const source = createLedgerSource({ rpc: createRpc(ledger.rpcUrl), programId: PROGRAM_ID });
  const actor = { signer: hotSigner.publicKey, gateway };
  const send: Scene['send'] = (instructions, signers = [hotSigner]) =>
    submit(operator, instructions, signers);

  return {
    ledger,
    service,
    source,
    send,
    wait: (seconds) => advanceSeconds(connection, seconds),
    async read() {
      const read: LedgerTransaction[] = [];
      for await (const page of listPages(source, { commitment: 'confirmed', slot: 0n })) {
        const succeeded = page.filter(({ failed }) => !failed);
        read.push(...(await Promise.all(succeeded.map(source.read))));
      }
      return read;
    },
    async lock(count = 1) {
      const nowMs = Number(await readClockSeconds(connection)) * 1_000;
      const ids = Array.from({ length: count }, () => createJobId({ nowMs, creditAccount }));
      const locks = ids.map(({ bytes }) =>
        jobLock({
          ...actor,
          payer: operator.authority.publicKey,
          wallet: service.wallet.publicKey,
          modelId: service.model.id,
          jobId: bytes,
          tokenLimit: 2_000,
          maxCredits: 8n,
        }),
      );
      await send(locks);
      return ids.map(({ address }) => address);
    },
    acknowledge: (job, attempt = 1) => send([jobAcknowledge({ ...actor, job, worker, attempt })]),
    async settle(job) {
      const counts = { outputHash: OUTPUT_HASH, promptTokens: 10, completionTokens: 600 };
      const message = proofMessage({
        programId: PROGRAM_ID,
        job,
        worker,
        attempt: 1,
        ...counts,
      });
      const { publicKey } = service.proofKey;
      const signature = sign(message, service.proofKey);
      const owner = service.workerAuthority.publicKey;
      await send([
        ed25519Instruction({ publicKey, message, signature }),
        jobProve({ job, worker, ed25519InstructionIndex: 0, ...counts }),
        jobSettle({
          ...actor,
          job,
          creditAccount,
          worker,
          workerPayout: associatedTokenAddress(service.mints.credit, owner),
          deliveredHash: OUTPUT_HASH,
          countedTokens: 599,
        }),
      ]);
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
    async resolve(job, verdict) {
      const account = await fetchJob(connection, job);
      if (!account) throw new Error('the job is not on the ledger');
      const parties = { proofKey: service.proofKey, hotSigner };
      await advanceToVerdict(connection, account);
      const instructions = verdictInstructions(evidenceFor(parties, job, account, verdict), {
        arbiter: arbiter.publicKey,
        job,
        creditAccount,
        worker,
        verdict,
      });
      await send(instructions, [arbiter]);
    },
    close: (job) => send([jobClose({ job, rentPayer: operator.authority.publicKey })], []),
  };
}
