import { createHash } from 'node:crypto';
import { Keypair, type PublicKey } from '@solana/web3.js';
import { type LedgerContext, openLedger } from '../../api/ledger/context.ts';
import { draftJob } from '../../api/ledger/escrow.ts';
import type { LockedJob } from '../../api/ledger/job.ts';
import { jobDeadlines } from '../../api/ledger/lockOnLedger.ts';
import type { ProvenAnswer } from '../../api/ledger/proof.ts';
import { createAcknowledgements, settleOnLedger } from '../../api/ledger/settleOnLedger.ts';
import { createLogger } from '../../common/logger.ts';
import {
  createAddresses,
  fetchCreditAccount,
  fetchJob,
  jobLock,
  PROGRAM_ID,
  proofMessage,
  signHashed,
} from '../../programs/client/index.ts';
import { createSender } from '../../programs/client/sender/index.ts';
import type { SentVersion } from '../../programs/client/sender/transaction.ts';
import { associatedTokenAddress } from '../../programs/client/token/instructions.ts';
import { connectLedger } from '../../programs/client/verify/connection/connectLedger.ts';
import { openCreditAccount, registerWorker } from '../../stack/participants.ts';
import { REQUEST } from '../../testing/kit/jobInstructions.ts';
import type { Forward, RpcRequest } from '../../testing/ledger/interceptedConnection.ts';
import { createJobScene, OUTPUT } from '../../testing/ledger/jobScene.ts';
import { interceptedRpc } from '../client/interceptedRpc.ts';

const OUTPUT_HASH = createHash('sha256').update(OUTPUT).digest();
const TOKENS = 600;

/** A worker on the ledger. */
interface Worker {
  address: PublicKey;
  payout: PublicKey;
  proofKey: Keypair;
}

type Intercept = (request: RpcRequest, forward: Forward) => Promise<object>;

export type SettlementScene = Awaited<ReturnType<typeof openSettlementScene>>;

/**
 * What the API settles on a ledger, with the node between them.
 * @param options.version of the API's transactions
 */
export async function openSettlementScene({ version = 'legacy' as SentVersion } = {}) {
  const scene = await createJobScene();
  const { ledger, service } = scene;
  const { operator, mints, model, gateway, hotSigner } = service;
  await ledger.fundLamports(hotSigner.publicKey, 1e12);
  let intercept: Intercept | undefined;
  /** One that is repeated counts once. */
  const sent = new Set<unknown>();
  const rpc = interceptedRpc(ledger.rpcUrl, (request, forward) => {
    if (request.method !== 'sendTransaction') return forward(request);
    sent.add(request.params[0]);
    return intercept ? intercept(request, forward) : forward(request);
  });
  const open = (feePayers: readonly Keypair[] = []) =>
    openLedger({
      config: {
        SVC_FEE_PAYER_KEYS: feePayers,
        SVC_SIGNER_KEY: hotSigner,
        SVC_GATEWAY: gateway,
        SVC_SUBMISSIONS_MAX: 64,
        SVC_ACKNOWLEDGEMENT_LINGER_MS: 0,
        SVC_SETTLEMENT_LINGER_MS: 0,
      },
      ...{ commitment: 'confirmed', version, rpc, connection: connectLedger(rpc) },
      addresses: createAddresses(),
      logger: createLogger({ name: 'test', level: 'silent' }),
      createSender,
    });
  let opened = open();
  await opened.context.clock.ready;
  const payoutOf = (owner: PublicKey) => associatedTokenAddress(mints.credit, owner);
  const worker: Worker = {
    address: service.worker,
    payout: payoutOf(service.workerAuthority.publicKey),
    proofKey: service.proofKey,
  };

  /** The workers that failed by their own fault, in order. */
  const blamed: string[] = [];
  function answerTo(
    job: LockedJob,
    choice: { worker?: Worker; attempt?: number; key?: Keypair } = {},
  ): ProvenAnswer {
    const { worker: of = worker, attempt = 1, key = of.proofKey } = choice;
    const output = { outputHash: OUTPUT_HASH, promptTokens: 10, completionTokens: TOKENS };
    const proven = { ...output, statement: REQUEST };
    const named = { job: job.address, worker: of.address, attempt };
    const message = proofMessage({ programId: PROGRAM_ID, ...named, ...proven });
    return {
      reservation: {
        worker: {
          address: of.address.toBase58(),
          payout: of.payout.toBase58(),
          proof_key: of.proofKey.publicKey.toBase58(),
        },
        failed: () => void blamed.push(of.address.toBase58()),
      },
      attempt,
      proof: { ...proven, signature: signHashed(message, key) },
    } as unknown as ProvenAnswer;
  }

  return {
    ...scene,
    get context(): LedgerContext {
      return opened.context;
    },
    /** Opens the API's part again, as after a restart, where these keys pay when its signer cannot. */
    async reopen(feePayers: readonly Keypair[] = []) {
      opened.close();
      opened = open(feePayers);
      await opened.context.clock.ready;
    },
    answerTo,
    blamed,
    async addWorker(): Promise<Worker> {
      const [authority, proofKey] = [Keypair.generate(), Keypair.generate()];
      const address = await registerWorker(operator, {
        ...{ authority, proofKey: proofKey.publicKey, endpoint: 'http://127.0.0.1:9' },
        ...{ modelIds: [model.id], stakeTokens: 1_000n, mints },
      });
      return { address, payout: payoutOf(authority.publicKey), proofKey };
    },
    async addWallet() {
      const wallet = Keypair.generate();
      await openCreditAccount(operator, { wallet, spender: gateway, credits: 1_000n, mints });
      return wallet;
    },
    /** Locks so many jobs of the wallet, by default the service's. */
    async lockJobs(count: number, wallet = service.wallet): Promise<LockedJob[]> {
      const { context } = opened;
      await context.clock.read();
      const named = wallet.publicKey.toBase58();
      const drafts = Array.from({ length: count }, () => draftJob(context, named));
      const now = context.clock.nowSeconds();
      const locks = drafts.map(({ bytes }) =>
        jobLock({
          ...{ payer: operator.authority.publicKey, signer: hotSigner.publicKey, gateway },
          ...{ wallet: wallet.publicKey, modelId: model.id, jobId: bytes },
          ...{ tokenLimit: 2_000, maxCredits: 1_000n },
        }),
      );
      for (const lock of locks) await scene.send([lock]);
      const lockedAtLatest = context.clock.nowSeconds() + 1n;
      const deadlines = jobDeadlines({ lockedAtEarliest: now, lockedAtLatest });
      return drafts.map(
        (draft) => ({ ...draft, wallet: named, deadlines }) as unknown as LockedJob,
      );
    },
    settleJob: (job: LockedJob, answer = answerTo(job)) =>
      settleOnLedger(opened.context, createAcknowledgements(opened.context), {
        ...{ job, answer, countedTokens: TOKENS, kept: Promise.resolve() },
      }),
    async read({ address }: LockedJob) {
      const found = await fetchJob(ledger.connection, address, { commitment: 'confirmed' });
      if (!found) throw new Error('the job is not on the ledger');
      return found;
    },
    /** What the wallet has, charged for every settled job once if this is so. */
    async availableCredits() {
      const { creditAccount } = service;
      const found = await fetchCreditAccount(ledger.connection, creditAccount, {
        commitment: 'confirmed',
      });
      if (!found) throw new Error('the wallet has no credit account');
      return found.availableCredits;
    },
    /** How many transactions the node was given. */
    sent: () => sent.size,
    /** From now on the node does this with each transaction; nothing by default. */
    intercept(does?: Intercept) {
      intercept = does;
    },
    async close() {
      opened.close();
      await ledger.close();
    },
  };
}

/** The node passes transactions on without looking at them, so that faults show in blocks. */
export const unchecked: Intercept = (request, forward) => {
  const [wire, config] = request.params;
  return forward({ ...request, params: [wire, { ...Object(config), skipPreflight: true }] });
};
