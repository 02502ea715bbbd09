import { createHash } from 'node:crypto';
import type { Response } from 'express';
import { isEnded } from '../../programs/client/vocabulary.ts';
import { createBackground } from '../../runtime/background.ts';
import { creditsNumber, sha256Text } from '../../runtime/jsonForms.ts';
import { estimateOutputTokens } from '../../runtime/tokens.ts';
import { delay } from '../../runtime/wait.ts';
import type { ChatCompletionRequest } from '../contracts/chatCompletion.ts';
import { ApiError, toApiError } from '../errors.ts';
import type { Claim, Idempotency } from '../idempotency/idempotency.ts';
import type { RequestIdentity } from '../idempotency/identity.ts';
import { type JobEnd, type LockedJob, LockUndecidedError } from '../ledger/escrow.ts';
import type { JobWatch } from '../services/jobWatch.ts';
import type { JobProgress, JobRow } from '../statements/jobs.ts';
import type { KeyAndAccount } from '../statements/keyAndAccount.ts';
import { type AdmissionServices, type Admitted, admit } from './admission.ts';
import { type AnswerServices, answerJob } from './answer.ts';
import type { AttemptEnd, ProvenAnswer } from './attempt.ts';
import { createDelivery, type Delivery, type Settlement } from './delivery.ts';
import { contextExceeded, jobTimeout, workerFailed } from './endings.ts';
import { replayAnswer } from './replay.ts';
import { createStages, type StageName, type Stages } from './stages.ts';

export interface CompletionServices extends AdmissionServices, AnswerServices {
  watch: JobWatch;
  idempotency: Idempotency;
  /** The wallet's job as the mirror has it. */
  findJob: (key: { wallet: string; jobId: string }) => Promise<JobRow | undefined>;
  publicUrl: string;
  onStage: (name: StageName, durationMs: number) => void;
  /** Signs that this text was delivered; see the delivery receipt in SECURITY.md. */
  signReceipt: (job: LockedJob, outputHash: Uint8Array) => string;
}

export interface Completions {
  /** Answers one request, from its price to its settlement. @throws ApiError before any lock */
  complete(options: {
    key: KeyAndAccount;
    identity: RequestIdentity;
    request: ChatCompletionRequest;
    response: Response;
  }): Promise<void>;
  /** Resolves when every job under way has ended, on the ledger too. */
  drain(): Promise<void>;
}

type NewClaim = Extract<Claim, { status: 'new' }>;

/** What a job's run needs besides the job. */
interface RunContext {
  delivery: Delivery;
  response: Response;
  stages: Stages;
  isStream: boolean;
  claim: NewClaim;
  /** Unix seconds. */
  created: number;
}

/** A plain answer waits this long for its settlement and for the mirror to show it. */
const PLAIN_SETTLEMENT_WAIT_MS = 10_000;
/** A finished stream is held open this long for its trailers. */
const STREAM_SETTLEMENT_WAIT_MS = 3_000;
/** How long an error waits for the mirror, so that the job can be read as it is told. */
const ENDING_WAIT_MS = 3_000;
/** How long a time-out waits for its refund before it is told without one. */
const REFUND_WAIT_MS = 15_000;

const hasEnded = ({ status }: JobProgress): boolean => isEnded(status);

/** The request path: admit, lock, answer, prove, settle, deliver. */
export function createCompletions(services: CompletionServices): Completions {
  const { escrow, watch, clock, logger, publicUrl, idempotency } = services;
  const background = createBackground();

  /** Work that goes on whether or not its client stays; its failure leaves the job to the keeper. */
  function inBackground<Result>(
    job: LockedJob,
    work: Promise<Result>,
  ): Promise<Result | undefined> {
    const guarded = work.catch((error: unknown) => {
      logger.error({ msg: 'Left a job to the keeper', job_id: job.id, err: error });
      return undefined;
    });
    background.add(guarded);
    return guarded;
  }

  /** Waits for the mirror to show the job's end; undefined when it does not in time. */
  async function mirrored(
    job: LockedJob,
    end: JobEnd,
    waitMs: number,
  ): Promise<JobProgress | undefined> {
    if (end.signature) await watch.hint(end.signature);
    return watch.waitFor(job.address.toBase58(), hasEnded, waitMs);
  }

  /** A request that came to nothing leaves no trace, so that its repeat is answered at once. */
  async function admitClaimed(
    claim: NewClaim,
    options: Parameters<typeof admit>[1],
  ): Promise<Admitted> {
    try {
      return await admit(services, options);
    } catch (error) {
      if (error instanceof LockUndecidedError) background.add(error.undone.then(claim.release));
      else if (error instanceof ApiError) await claim.release();
      throw error;
    }
  }

  async function settleAnswer(
    job: LockedJob,
    answer: ProvenAnswer,
    settling: { countedTokens: number; stages: Stages; keepCopy: () => Promise<void> },
  ): Promise<{ end: JobEnd; progress: JobProgress | undefined }> {
    const { countedTokens, stages, keepCopy } = settling;
    await keepCopy().catch((error: unknown) => {
      // A repeat will be refused instead of answered; that is no reason not to settle.
      logger.warn({ msg: 'Failed to keep an answer for repeats', job_id: job.id, err: error });
    });
    const settled = await escrow.settle(job, answer, countedTokens);
    const end = settled.status === 'overdue' ? await refundWhenDue(job) : settled;
    stages.mark('settle');
    const progress = await mirrored(job, end, PLAIN_SETTLEMENT_WAIT_MS);
    stages.mark('mirror');
    return { end, progress };
  }

  async function deliverAnswer(
    job: LockedJob,
    answer: ProvenAnswer,
    context: RunContext,
  ): Promise<void> {
    const { delivery, response, stages, isStream, claim, created } = context;
    const countedTokens = Math.min(estimateOutputTokens(answer.text), job.tokenLimit);
    const completion_tokens = Math.min(answer.proof.completionTokens, countedTokens);
    const prompt_tokens = answer.proof.promptTokens;
    const total_tokens = prompt_tokens + completion_tokens;
    const usage = { prompt_tokens, completion_tokens, total_tokens };
    const { text, finishReason, engine, slot } = answer;
    const digest = createHash('sha256').update(text, 'utf8').digest();
    const outputHash = sha256Text(digest.toString('hex'));
    const deliveryReceipt = services.signReceipt(job, digest);

    const keepCopy = () =>
      claim.store({
        ...{ text, finishReason, usage, created, outputHash, deliveryReceipt },
        modelId: job.model.id,
        escrowTx: job.escrowTx,
        worker: { address: slot.worker.address, engine },
      });
    const settling = inBackground(
      job,
      settleAnswer(job, answer, { countedTokens, stages, keepCopy }),
    );
    delivery.finish(finishReason, usage);

    const waitMs = isStream ? STREAM_SETTLEMENT_WAIT_MS : PLAIN_SETTLEMENT_WAIT_MS;
    const known = await within(waitMs, settling);
    if (!isStream && known && known.end.status !== 'settled') {
      return delivery.fail(endingError(job, known.end, known.progress));
    }
    if (!response.headersSent) response.set('server-timing', stages.header());
    delivery.settled({ ...settlementOf(known), outputHash, deliveryReceipt });
  }

  async function refundWhenDue(job: LockedJob): Promise<JobEnd> {
    await clock.waitUntil(job.deadlines.refundableAt);
    return escrow.refund(job);
  }

  /** Ends a job that nobody is charged for, and says how it ended. */
  async function endUnpaid(
    job: LockedJob,
    end: Exclude<AttemptEnd, { kind: 'proven' }>,
  ): Promise<ApiError> {
    if (end.kind === 'overdue') {
      const refunding = inBackground(job, refundWhenDue(job));
      await clock.waitUntil(job.deadlines.refundableAt);
      const refunded = await within(REFUND_WAIT_MS, refunding);
      if (!refunded) return jobTimeout(job, null);
      return endingError(job, refunded, await mirrored(job, refunded, ENDING_WAIT_MS));
    }
    const reason = end.kind === 'failed' ? end.reason : failureReasons[end.kind];
    const failed = await escrow.fail(job, reason);
    const progress = await mirrored(job, failed, ENDING_WAIT_MS);
    if (end.kind === 'context_exceeded') {
      return contextExceeded(job, failed.signature ?? progress?.refund_tx ?? null);
    }
    return endingError(job, failed, progress);
  }

  async function run(
    job: LockedJob,
    options: Parameters<typeof answerJob>[1],
    context: RunContext,
  ): Promise<void> {
    try {
      const end = await answerJob(services, options);
      context.stages.mark('worker');
      if (end.kind === 'proven') return await deliverAnswer(job, end.answer, context);
      context.delivery.fail(await endUnpaid(job, end));
    } catch (error) {
      logger.error({ msg: 'Failed to run a job', job_id: job.id, err: error });
      void inBackground(job, escrow.fail(job, 'worker_error'));
      context.delivery.fail(toApiError(error));
    }
  }

  return {
    async complete({ key, identity, request, response }) {
      const clientGone = abortWhenLeft(response);
      const stages = createStages(services.onStage);
      const isStream = request.stream ?? false;
      const includeUsage = request.stream_options?.include_usage ?? false;
      const form = { response, publicUrl, isStream, includeUsage };
      const draft = escrow.draft(key.wallet);
      const claim = await idempotency.claim(identity, draft.id);
      if (claim.status === 'replay') {
        const { jobId, copy } = claim;
        const job = await services.findJob({ wallet: key.wallet, jobId });
        const settlementTx = job?.settlement_tx ?? null;
        const creditsRemaining = creditsNumber(key.available_credits ?? 0n);
        return replayAnswer({ ...form, jobId, copy, settlementTx, creditsRemaining });
      }
      const { job, slot } = await admitClaimed(claim, { key, request, draft, clientGone });
      stages.mark('lock');
      response.set({ 'x-svc-job-id': job.id, 'x-svc-tx-signature': job.escrowTx });

      const created = Number(clock.nowSeconds());
      const delivery = createDelivery({
        ...form,
        identity: { jobId: job.id, modelId: job.model.id, created },
      });
      const chat = chatForWorker(request);
      const options = { job, slot, delivery, clientGone, chat, keepPartial: isStream };
      const context = { delivery, response, stages, isStream, claim, created };
      await inBackground(job, run(job, options, context));
    },
    drain: background.drain,
  };
}

const failureReasons = {
  context_exceeded: 'worker_error',
  client_gone: 'client_gone',
} as const;

function endingError(job: LockedJob, end: JobEnd, progress: JobProgress | undefined): ApiError {
  const refundTx = end.signature ?? progress?.refund_tx ?? null;
  return end.status === 'refunded' ? jobTimeout(job, refundTx) : workerFailed(job, refundTx);
}

function settlementOf(
  known: { end: JobEnd; progress: JobProgress | undefined } | undefined,
): Pick<Settlement, 'settlementTx' | 'creditsRemaining'> {
  if (known?.end.status !== 'settled') return { settlementTx: null, creditsRemaining: null };
  const { end, progress } = known;
  return {
    settlementTx: end.signature ?? progress?.settlement_tx ?? null,
    creditsRemaining: progress ? creditsNumber(progress.available_credits) : null,
  };
}

/** The fields of the request that matter to an engine; limits and streaming are the protocol's. */
function chatForWorker(request: ChatCompletionRequest): Record<string, unknown> {
  const { model, messages, temperature, top_p, stop, seed } = request;
  const { frequency_penalty, presence_penalty } = request;
  return {
    model,
    messages,
    temperature,
    top_p,
    stop,
    seed,
    frequency_penalty,
    presence_penalty,
  };
}

/** Aborts when the client closes its connection before its answer was sent. */
function abortWhenLeft(response: Response): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort();
  });
  return controller.signal;
}

async function within<Result>(ms: number, work: Promise<Result>): Promise<Result | undefined> {
  const timer = new AbortController();
  const late = delay(ms, timer.signal).then(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
  }
}
