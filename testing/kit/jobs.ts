import type { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import {
  type DisputeOutcome,
  disputeExpire,
  type FailureReason,
  formatJobId,
  type Job,
  type JobStatus,
  jobClose,
  verdictInstruction,
} from '../../programs/client/index.ts';
import { type Cast, hashOf, type OneOrMore, type TestWallet, type TestWorker } from './cast.ts';
import * as jobs from './jobInstructions.ts';
import { jobIn } from './jobInstructions.ts';
import type { ModelOffer } from './setUp.ts';

/** A locked job, for the functions below. */
export interface TestJob {
  readonly address: PublicKey;
  /** `job_` and 32 hex digits, as the service's API spells it. */
  readonly id: string;
  readonly wallet: TestWallet;
}

export interface LockOptions {
  /** The wallet that pays; by default the first. */
  readonly wallet?: TestWallet;
  /** By default the first model. */
  readonly modelId?: string;
  /** By default 2,000 output tokens. */
  readonly tokenLimit?: number;
  /** The quoted price; by default more than any job may cost. */
  readonly maxCredits?: bigint;
}

export interface ProveOptions {
  /** The whole answer, whose sha256 the worker signs. */
  readonly text?: string;
  readonly promptTokens?: number;
  readonly completionTokens?: number;
}

export interface CompleteOptions extends ProveOptions {
  /** By default the assigned worker, and the first for a job that has none. */
  readonly worker?: TestWorker;
  /** By default what the worker counted. */
  readonly countedTokens?: number;
}

/**
 * A function for every step of a job. Each sends one transaction with the required signatures and
 * returns the Job as it is then on the ledger. It throws a Refusal with the program's name of the
 * error. The program's deadlines apply, so move the Clock yourself.
 */
export interface JobVerbs {
  /** The Gateway locks a wallet's credits for a new job. */
  lock(options?: LockOptions): Promise<TestJob>;
  /** The Gateway assigns the job to a worker, by default the first, as its next attempt. */
  acknowledge(job: TestJob, worker?: TestWorker): Promise<Job>;
  /** The assigned worker signs a proof of its answer. Any key may send it. */
  prove(job: TestJob, options?: ProveOptions): Promise<Job>;
  /** The Gateway confirms the delivered answer, by default the proven one. */
  settle(job: TestJob, delivered?: { text?: string; countedTokens?: number }): Promise<Job>;
  /**
   * The Gateway settles the worker's proven answer in one step, of the assigned attempt. It assigns
   * the next one to a worker that has none.
   */
  complete(job: TestJob, options?: CompleteOptions): Promise<Job>;
  /** The Gateway fails the job. */
  fail(job: TestJob, reason?: FailureReason): Promise<Job>;
  /** Refunds a job after its deadline. Any key may call it. */
  refund(job: TestJob): Promise<Job>;
  /** The wallet disputes the job with the text that it received. */
  dispute(job: TestJob, receivedText?: string): Promise<Job>;
  /**
   * The arbiter decides a dispute, once its window is over. An upheld verdict brings its evidence:
   * the worker, or the Gateway's hot signer, signs what contradicts the recorded proof.
   */
  resolve(job: TestJob, verdict: Verdict): Promise<Job>;
  /** Ends a dispute that was not decided in time. Any key may call it. */
  expire(job: TestJob): Promise<Job>;
  /** Closes a finished job and returns the rent to its payer. Any key may call it. */
  close(job: TestJob): Promise<void>;
  /** Brings a fresh job of the first wallet and worker to a status by the shortest way. */
  jobIn(status: JobStatus): Promise<TestJob>;
  /** The Job on the ledger. */
  job(job: TestJob): Promise<Job>;
}

type Compose = (job: Job, parties: jobs.JobParties) => TransactionInstruction[];

export type Verdict = Exclude<DisputeOutcome, 'none' | 'expired'>;

export function createJobVerbs(cast: Cast, models: OneOrMore<ModelOffer>): JobVerbs {
  const { chain, hotSigner, arbiter } = cast;

  const read = ({ address }: TestJob): Promise<Job> => cast.read('Job', address);
  const partiesOf = (wallet: TestWallet, worker: TestWorker): jobs.JobParties => ({
    ...cast,
    wallet: wallet.keypair,
    creditAccount: wallet.creditAccount,
    worker: worker.address,
    payout: worker.payout,
    proofKey: worker.proofKey,
  });
  /** The parties of a job, with the first worker unless one is assigned. */
  const partiesIn = ({ worker: assigned }: Job, { wallet }: TestJob): jobs.JobParties => {
    const worker = cast.workers.find(({ address }) => address.equals(assigned));
    return partiesOf(wallet, worker ?? cast.workers[0]);
  };
  const step = async (job: TestJob, compose: Compose, signers: Keypair[] = []): Promise<Job> => {
    const account = await read(job);
    await chain.send(compose(account, partiesIn(account, job)), signers);
    return read(job);
  };

  return {
    job: read,

    async lock({ wallet = cast.wallets[0], modelId = models[0].id, ...choice } = {}) {
      const parties = partiesOf(wallet, cast.workers[0]);
      const locking = await jobs.composeLock(parties, { ...choice, modelId });
      await chain.send([locking.instruction], [hotSigner]);
      return { address: locking.job, id: formatJobId(locking.jobId), wallet };
    },

    acknowledge: (job, { address: worker } = cast.workers[0]) =>
      step(
        job,
        ({ attempt }, parties) => [
          jobs.acknowledge(parties, job.address, { worker, attempt: attempt + 1 }),
        ],
        [hotSigner],
      ),

    prove: (job, { text, ...counts } = {}) =>
      step(job, ({ attempt }, parties) => {
        const outputHash = text === undefined ? jobs.ANSWER : hashOf(text);
        return [jobs.prove(parties, job.address, { ...counts, outputHash, attempt })];
      }),

    settle: (job, { text, countedTokens } = {}) =>
      step(
        job,
        ({ outputHash, completionTokens }, parties) => [
          jobs.settle(parties, job.address, {
            deliveredHash: text === undefined ? outputHash : hashOf(text),
            countedTokens: countedTokens ?? completionTokens,
          }),
        ],
        [hotSigner],
      ),

    complete: (job, { worker, text, ...counts } = {}) =>
      step(
        job,
        (account, assigned) => {
          const parties = worker ? partiesOf(job.wallet, worker) : assigned;
          const isAssigned = account.attempt > 0 && parties.worker.equals(account.worker);
          return [
            jobs.complete(parties, job.address, {
              ...counts,
              outputHash: text === undefined ? jobs.ANSWER : hashOf(text),
              attempt: isAssigned ? account.attempt : account.attempt + 1,
            }),
          ];
        },
        [hotSigner],
      ),

    fail: (job, reason = 'worker_error') => {
      const compose: Compose = (_, parties) => [jobs.fail(parties, job.address, { reason })];
      return step(job, compose, [hotSigner]);
    },

    refund: (job) => step(job, (_, parties) => [jobs.refund(parties, job.address)]),

    dispute: (job, receivedText = 'something else') => {
      const clientHash = hashOf(receivedText);
      const compose: Compose = (_, parties) => [jobs.dispute(parties, job.address, { clientHash })];
      return step(job, compose, [job.wallet.keypair]);
    },

    resolve: (job, verdict) =>
      step(
        job,
        (account, parties) => [
          verdictInstruction(jobs.evidenceFor(parties, job.address, account, verdict), {
            arbiter: arbiter.publicKey,
            job: job.address,
            creditAccount: parties.creditAccount,
            worker: parties.worker,
            verdict,
          }),
        ],
        [arbiter],
      ),

    expire: (job) =>
      step(job, (_, { creditAccount }) => [disputeExpire({ job: job.address, creditAccount })]),

    async close(job) {
      const { rentPayer } = await read(job);
      await chain.send([jobClose({ job: job.address, rentPayer })]);
    },

    async jobIn(status) {
      const wallet = cast.wallets[0];
      const parties = partiesOf(wallet, cast.workers[0]);
      const address = await jobIn(parties, status, { modelId: models[0].id });
      const { jobId } = await cast.read('Job', address);
      return { address, id: formatJobId(jobId), wallet };
    },
  };
}
