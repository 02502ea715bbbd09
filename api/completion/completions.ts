import type { Response } from 'express';
import { LedgerUnavailableError } from '../../programs/client/sender/outcome.ts';
import { isEnded } from '../../programs/client/vocabulary.ts';
import { createBackground } from '../../runtime/background.ts';
import { creditsNumber } from '../../runtime/jsonForms.ts';
import type { ChatCompletionRequest } from '../contracts/chatCompletion.ts';
import { ApiError, ClientLeftError, toApiError } from '../errors.ts';
import type { NewClaim } from '../idempotency/idempotency.ts';
import type { RequestIdentity } from '../idempotency/identity.ts';
import { type LockedJob, LockUndecidedError } from '../ledger/escrow.ts';
import type { Caller } from '../middleware/authenticate.ts';
import { traceOf } from '../middleware/recordRequests.ts';
import type { JobWatch } from '../services/jobWatch.ts';
import type { JobProgress, JobRow } from '../statements/jobs.ts';
import { abortWhenLeft } from './abortWhenLeft.ts';
import { type AdmissionServices, type Admitted, admit } from './admission.ts';
import { type AnswerServices, answerJob } from './answer.ts';
import type { WholeAnswer } from './attempt.ts';
import { chatForWorker } from './chatForWorker.ts';
import { type ClaimServices, claimRequest } from './claimRequest.ts';
import { createDelivery } from './delivery.ts';
import { createJobWork } from './jobWork.ts';
import { createKeepAnswer, type KeepingContext, type KeptAnswer } from './keepAnswer.ts';
import { createProvenDelivery, type RequestContext } from './provenDelivery.ts';
import { replayAnswer } from './replay.ts';
import { createStages, type StageName } from './stages.ts';
import { createUnpaidEnding } from './unpaidEnding.ts';

export interface CompletionServices extends AdmissionServices, AnswerServices, ClaimServices {
  watch: JobWatch;
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
    caller: Caller;
    identity: RequestIdentity;
    request: ChatCompletionRequest;
    response: Response;
  }): Promise<void>;
  /** Resolves when every job under way has ended, on the ledger too. */
  drain(): Promise<void>;
}

/** The request path: admit, lock, answer, prove, settle, deliver. */
export function createCompletions(services: CompletionServices): Completions {
  const { escrow, tokens, watch, clock, logger, publicUrl, signReceipt } = services;
  const background = createBackground();
  const work = createJobWork({ background, watch, logger });
  const unpaid = createUnpaidEnding({ escrow, clock, work });
  const keepAnswer = createKeepAnswer({ tokens, logger, signReceipt });
  const deliverProven = createProvenDelivery({ escrow, work, unpaid });

  /** A request that came to nothing leaves no trace, so that its repeat is answered at once. */
  async function release(claim: NewClaim): Promise<void> {
    try {
      await claim.release();
    } catch (error) {
      // Its repeat has to wait until the ledger shows that there is no such job.
      logger.warn({ msg: 'Failed to forget a request', err: error });
    }
  }

  /** What the mirror tells once it shows the job's end: before, its balance is without the charge. */
  async function mirroredEnd(
    key: Parameters<CompletionServices['findJob']>[0],
  ): Promise<{ settlementTx: string | null; creditsRemaining: number | null }> {
    const job = await services.findJob(key);
    const hasEnded = ({ status }: JobProgress) => isEnded(status);
    const end = job && (await watch.waitFor(job.address, hasEnded, { timeoutMs: 0 }));
    return {
      settlementTx: end?.settlement_tx ?? null,
      creditsRemaining: end ? creditsNumber(end.available_credits) : null,
    };
  }

  async function admitClaimed(
    claim: NewClaim,
    options: Parameters<typeof admit>[1],
  ): Promise<Admitted> {
    try {
      return await admit(services, options);
    } catch (error) {
      if (error instanceof LockUndecidedError) {
        background.add(error.end.then((end) => (end === 'undone' ? release(claim) : undefined)));
      } else if (hasLockedNothing(error)) await release(claim);
      throw error;
    }
  }

  async function run(
    job: LockedJob,
    options: Omit<Parameters<typeof answerJob>[1], 'onWhole'>,
    context: RequestContext & KeepingContext,
  ): Promise<void> {
    let kept: KeptAnswer | undefined;
    // A plain answer's copy is stored while its signature is checked. A stream's reader waits for its
    // last words, and these for nothing but the check.
    const onWhole = async (answer: WholeAnswer): Promise<void> => {
      if (!context.isStream) kept = await keepAnswer(job, answer, context);
    };
    try {
      const end = await answerJob(services, { ...options, onWhole });
      context.stages.mark('worker');
      if (end.kind === 'proven') {
        kept ??= await keepAnswer(job, end.answer, context);
        return await deliverProven(job, end.answer, kept, context);
      }
      if (kept) void work.keepGoing(job, kept.discard());
      context.delivery.fail(await unpaid.end(job, end));
    } catch (error) {
      logger.error({ msg: 'Failed to run a job', job_id: job.id, err: error });
      void work.keepGoing(job, escrow.fail(job, 'worker_error'));
      context.delivery.fail(toApiError(error));
    }
  }

  return {
    async complete({ caller, identity, request, response }) {
      const clientGone = abortWhenLeft(response);
      const trace = traceOf(response);
      const stages = createStages((name, startMs, endMs) => {
        services.onStage(name, endMs - startMs);
        trace.stage(name, startMs, endMs);
      });
      const isStream = request.stream ?? false;
      const includeUsage = request.stream_options?.include_usage ?? false;
      const form = { response, publicUrl, isStream, includeUsage };
      const { wallet } = caller;
      const draft = escrow.draft(wallet);
      const claiming = { caller, identity, jobId: draft.id };
      const { payer, claim } = await claimRequest(services, claiming);
      if (claim.status === 'replay') {
        const { jobId, copy } = claim;
        return replayAnswer({ ...form, jobId, copy, ...(await mirroredEnd({ wallet, jobId })) });
      }
      const { job, slot } = await admitClaimed(claim, { payer, request, draft, clientGone });
      stages.mark('lock');
      response.set({ 'x-svc-job-id': job.id, 'x-svc-tx-signature': job.escrowTx });

      const created = Number(clock.nowSeconds());
      const delivery = createDelivery({
        ...form,
        identity: { jobId: job.id, modelId: job.model.id, created },
      });
      const chat = chatForWorker(request);
      // Once its client has the first words, nobody waits for anything but the worker.
      const onBegun = () => {
        setImmediate(() => {
          escrow.draftAhead(wallet);
          claim.prepareStore();
        });
      };
      const options = { job, slot, delivery, clientGone, chat, keepPartial: isStream, onBegun };
      const context = { delivery, response, stages, isStream, claim, created };
      await work.keepGoing(job, run(job, options, context));
    },
    drain: background.drain,
  };
}

function hasLockedNothing(error: unknown): boolean {
  return error instanceof ApiError || error instanceof ClientLeftError || isUnsent(error);
}

/** The ledger was out of reach before the lock was given to it. */
function isUnsent(error: unknown): boolean {
  return error instanceof LedgerUnavailableError && error.signature === null;
}
