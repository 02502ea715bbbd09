import type { PublicKey } from '@solana/web3.js';
import { LRUCache } from 'lru-cache';
import { PROOF_BEFORE_END_SECONDS, STOP_BEFORE_END_SECONDS } from '../../common/workerProtocol.ts';
import { gatewaySigners, workerModels } from '../../programs/client/accounts.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import type { Gateway, Job, Worker } from '../../programs/client/generated/types.ts';
import { formatJobId } from '../../programs/client/jobId.ts';
import { requireEligible } from '../ledger/eligibility.ts';
import type { FindJob } from '../ledger/jobLookup.ts';
import type { ReadLedgerStart, WorkerLedger } from '../ledger/ledger.ts';
import { requireServed, requireTerms, type Terms } from '../ledger/terms.ts';
import type { JobRequest } from '../protocol/contracts.ts';
import { WorkerError } from '../protocol/errors.ts';
import type { JobLife } from './attempts.ts';

/** What the ledger has about a job that may run. */
export interface Admitted extends JobLife {
  /** The key or Gateway that alone acts for the job, for all of its life. */
  controller: PublicKey;
  /** The time that is left until a proof comes too late. */
  proofDueMs: number;
}

export type Admission = ReturnType<typeof createAdmission>;

const MS_PER_SECOND = 1_000;
const CONTROLLERS_MAX = 256;

interface GatewayReading {
  readonly controller: PublicKey;
  readonly gateway: Promise<Gateway | undefined>;
}

/**
 * @param own the deployment this worker serves, its account, the key its proofs verify with, and
 *   what it demands of jobs
 * @param readStart when this process began
 * @param nowMs a monotone clock in milliseconds
 */
export function createAdmission(
  ledger: Pick<WorkerLedger, 'readGateway'>,
  findJob: FindJob,
  own: { programId: PublicKey; worker: PublicKey; proofKey: PublicKey; terms: Terms },
  readStart: ReadLedgerStart,
  nowMs: () => number = () => performance.now(),
) {
  const addresses = createAddresses(own.programId);
  /** The controller of each signer's last job. Most signers only ever sign for one Gateway. */
  const lastControllers = new LRUCache<string, PublicKey>({ max: CONTROLLERS_MAX });

  /** Reads the likely Gateway together with the job, in one request. */
  function prefetchGateway(signer: PublicKey): GatewayReading | undefined {
    const controller = lastControllers.get(signer.toBase58());
    if (!controller || controller.equals(signer)) return undefined;
    const gateway = ledger.readGateway(controller);
    // When the job is missing or has another controller, this reading is not awaited.
    gateway.catch(() => undefined);
    return { controller, gateway };
  }

  /** @throws WorkerError `signer_not_allowed` unless `signer` acts for `controller` now */
  async function authorize(
    controller: PublicKey,
    signer: PublicKey,
    prefetched?: GatewayReading,
  ): Promise<void> {
    if (controller.equals(signer)) return;
    const reading = prefetched?.controller.equals(controller) ? prefetched.gateway : undefined;
    const gateway = await (reading ?? ledger.readGateway(controller));
    if (gateway && gatewaySigners(gateway).some((key) => key.equals(signer))) return;
    throw new WorkerError('signer_not_allowed', "The signer does not act for the job's controller");
  }

  return {
    authorize,
    /**
     * Checks that the credits for this request are locked and that the caller may spend them.
     *
     * @param isKnown whether the last job of this signer passed
     * @throws WorkerError with the reason why the job may not run
     */
    async admit(request: JobRequest, signer: PublicKey, isKnown: boolean): Promise<Admitted> {
      const startSeconds = await readStart();
      const prefetched = prefetchGateway(signer);
      const reading = await findJob(request.job_address, isKnown);
      const readAtMs = nowMs();
      const { job, unixSeconds } = reading;
      const { controller, lockedAt, jobTimeoutSeconds } = job;
      requireServed(controller, own.terms);
      await authorize(controller, signer, prefetched);
      lastControllers.set(signer.toBase58(), controller);
      const { worker, config } = requireEligible(reading, own);
      requireSameWork(job, request, addresses.model(request.chat.model));
      requireHosted(job, worker);
      requireNew(job, startSeconds);
      requireTerms({ job, config, unixSeconds }, own.terms);
      const deadlineSeconds = lockedAt + BigInt(jobTimeoutSeconds);
      const lifeLeftSeconds = deadlineSeconds - unixSeconds;
      requireTurn(job, request.attempt, { worker: own.worker, lifeLeftSeconds });
      const proofDueMs = Number(lifeLeftSeconds - PROOF_BEFORE_END_SECONDS) * MS_PER_SECOND;
      // Reading the Gateway may have taken seconds since.
      const elapsedMs = nowMs() - readAtMs;
      return { controller, unixSeconds, deadlineSeconds, proofDueMs: proofDueMs - elapsedMs };
    },
  };
}

function requireSameWork(job: Job, request: JobRequest, model: PublicKey): void {
  const isSame =
    formatJobId(job.jobId) === request.job_id &&
    job.tokenLimit === request.token_limit &&
    job.model.equals(model);
  if (isSame) return;
  throw new WorkerError('job_mismatch', 'Job id, model or token limit are not those locked');
}

/** The sender of the job may not know yet that its model is hosted no more. */
function requireHosted(job: Job, worker: Worker): void {
  if (workerModels(worker).some((model) => model.equals(job.model))) return;
  throw new WorkerError('worker_not_eligible', "This worker does not host the job's model");
}

/** An earlier process may have proven the job; a second, different proof would cost the stake. */
function requireNew(job: Job, startSeconds: bigint | undefined): void {
  if (startSeconds === undefined || job.lockedAt > startSeconds) return;
  throw new WorkerError('job_not_open', 'The job was locked before this process began');
}

function requireTurn(
  job: Job,
  attempt: number,
  { worker, lifeLeftSeconds }: { worker: PublicKey; lifeLeftSeconds: bigint },
): void {
  const status = job.status;
  const isLater = attempt > job.attempt;
  const isOwn = attempt === job.attempt && job.worker.equals(worker);
  // A recorded proof has no effect once a later attempt is acknowledged.
  const isTurn =
    status === 'pending' || status === 'processing'
      ? isLater || isOwn
      : status === 'settling' && isLater;
  if (isTurn && lifeLeftSeconds > STOP_BEFORE_END_SECONDS) return;
  throw new WorkerError('job_not_open', 'The job does not wait for this attempt any more');
}
