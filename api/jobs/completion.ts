import type { PublicKey } from '@solana/web3.js';
import type { Response } from 'express';
import { creditsNumber } from '../../common/format.ts';
import { firstSilenceMs } from '../../common/tokenizers/tokenCounts.ts';
import { createBackground, within } from '../../common/wait.ts';
import { isEnded } from '../../programs/client/accounts.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/sendResult.ts';
import type { ChatCompletionRequest } from '../contracts/chatCompletion.ts';
import { ApiError, ClientLeftError, toApiError } from '../contracts/errors.ts';
import type { Escrow } from '../ledger/escrow.ts';
import {
  checkProof,
  type LockedJob,
  LockUndecidedError,
  type ProvenAnswer,
  type SettlementRecord,
  type WholeAnswer,
} from '../ledger/job.ts';
import { abortWhenLeft, createDelivery, type Delivery, recordJob } from '../response/delivery.ts';
import type { Payer } from '../sql/accounts.ts';
import type { JobProgress, JobRow } from '../sql/jobs.ts';
import { createStages, type StageName, type Stages, traceOf } from '../telemetry/tracing.ts';
import { type AdmissionServices, admit, chatForWorker } from './admission.ts';
import type { TextEvent, UnprovenEnd } from './attempt.ts';
import type { Answered, NewClaim } from './claim.ts';
import { type Dispatchable, type DispatchServices, dispatch, refreshed } from './dispatch.ts';
import type { Idempotency } from './idempotency.ts';
import { createJobWork, type JobWatch } from './jobWatch.ts';
import { createRefunds, endingError } from './refund.ts';
import { replayAnswer } from './replay.ts';
import type { RequestIdentity } from './requestIdentity.ts';
import { createSettlements, knownWithin, settlementOf } from './settlement.ts';

export interface CompletionServices extends AdmissionServices, Omit<DispatchServices, 'directory'> {
  idempotency: Idempotency;
  escrow: Escrow;
  programId: PublicKey;
  watch: JobWatch;
  /** The wallet's job as the mirror has it. */
  findJob: (key: { wallet: string; jobId: string }) => Promise<JobRow | undefined>;
  publicUrl: string;
  observeStage: (name: StageName, durationMs: number) => void;
  /** Counts the job until its end. */
  observeLock: (job: LockedJob) => void;
  /** Keeps what was learnt about a worker's speed, for every instance's choice. */
  observeFirstToken: (seen: { worker: string; modelId: string; firstTokenMs: number }) => void;
  /** Keeps how long the stages of a job took, for its wallet. */
  observeJob: (seen: {
    job: LockedJob;
    wallet: string;
    durationsMs: ReturnType<Stages['durationsMs']>;
  }) => void;
  /** Signs that this text was delivered; see the delivery receipt in SECURITY.md. */
  signReceipt: (job: LockedJob, outputHash: Uint8Array) => Promise<string>;
}

export interface Completions {
  /** Answers one request, from its price to its settlement. @throws ApiError before any lock */
  complete(options: {
    payer: Payer;
    identity: RequestIdentity;
    request: ChatCompletionRequest;
    response: Response;
  }): Promise<void>;
  /** Resolves when every request has ended, and its job on the ledger, too. */
  drain(): Promise<void>;
}

/** What a request brings to its locked job. */
interface RequestContext {
  response: Response;
  delivery: Delivery;
  stages: Stages;
  claim: NewClaim;
  isStream: boolean;
  messages: ChatCompletionRequest['messages'];
  /** Unix seconds of the ledger. */
  created: number;
}

/** A plain answer waits this long for its settlement and for the mirror to show it. */
const PLAIN_SETTLEMENT_WAIT_MS = 10_000;
/** A repeated answer waits this long for the ledger's event while the mirror lacks its settlement. */
const EVENT_WAIT_MS = 1_000;
/** A finished stream is held open this long for its trailers. */
const STREAM_SETTLEMENT_WAIT_MS = 3_000;

/** The request path: claim, admit, lock, dispatch, check, store, settle, deliver. */
export function createCompletions(services: CompletionServices): Completions {
  const { idempotency, escrow, watch, clock, time, logger, publicUrl, programId } = services;
  const background = createBackground();
  const work = createJobWork({ background, watch, logger });
  const refunds = createRefunds({ escrow, clock, work, ...(time && { time }) });
  const settlements = createSettlements({ ...services, work, refunds });

  /** A request that came to nothing leaves no trace, so that its repeat is answered at once. */
  async function release(claim: NewClaim): Promise<void> {
    try {
      await claim.release();
    } catch (error) {
      // Its repeat has to wait until the ledger shows that there is no such job.
      logger.warn({ msg: 'Failed to forget a request', err: error });
    }
  }

  async function notAdmitted(claim: NewClaim, error: unknown): Promise<never> {
    if (error instanceof LockUndecidedError) {
      background.add(error.end.then((end) => (end === 'undone' ? release(claim) : undefined)));
    } else if (hasLockedNothing(error)) await release(claim);
    throw error;
  }

  /**
   * What the mirror has once it shows the job's end: before, its balance is without the charge.
   * Until then the ledger's own event has it.
   */
  async function settlementBefore(
    key: Parameters<CompletionServices['findJob']>[0],
  ): Promise<{ settlementTx: string | null; creditsRemaining: number | null }> {
    const job = await services.findJob(key);
    const hasEnded = ({ status }: JobProgress) => isEnded(status);
    const mirrored = job && (await watch.waitFor(job.address, hasEnded, { timeoutMs: 0 }));
    const reading = mirrored ?? within(EVENT_WAIT_MS, escrow.readSettlement(key, null), time);
    const end: SettlementRecord | undefined = await reading;
    return {
      settlementTx: end?.settlement_tx ?? null,
      creditsRemaining: end ? creditsNumber(end.available_credits) : null,
    };
  }

  function begin(
    job: LockedJob,
    { worker, firstTokenMs }: TextEvent,
    { response, delivery, stages, isStream }: RequestContext,
  ): void {
    stages.note('first_token');
    // A stream's headers leave with its first text.
    if (isStream) response.set('server-timing', stages.header());
    delivery.begin(worker);
    services.observeFirstToken({ worker: worker.address, modelId: job.model.id, firstTokenMs });
  }

  /** Passes a job's text on as it comes. @returns how its dispatch ended */
  async function relay(
    dispatchable: Dispatchable,
    context: RequestContext,
  ): Promise<WholeAnswer | UnprovenEnd> {
    const { job } = dispatchable;
    const { delivery } = context;
    let hasBegun = false;
    for await (const event of dispatch(services, dispatchable)) {
      switch (event.type) {
        case 'started':
          escrow.acknowledge(job, event.workerAddress, event.attempt);
          break;
        case 'text':
          if (!hasBegun) begin(job, event, context);
          hasBegun = true;
          for (const piece of event.pieces) delivery.write(piece);
          break;
        case 'discarded':
          delivery.discard();
          hasBegun = false;
          break;
        case 'whole':
          return event.answer;
        case 'unproven':
          return event.end;
      }
    }
    throw new Error('A dispatch ended without its last event');
  }

  async function check(job: LockedJob, whole: WholeAnswer): Promise<ProvenAnswer | UnprovenEnd> {
    const key = { programId, job: job.address };
    let answer = checkProof(whole, key);
    if (!answer) {
      // Its key on the ledger may be a new one, which the pool learns within a second.
      await refreshed(services.directory, time);
      answer = checkProof(whole, key);
    }
    if (answer) {
      whole.reservation.succeeded();
      return answer;
    }
    whole.reservation.failed();
    const about = {
      job_id: job.id,
      worker: whole.reservation.worker.address,
      attempt: whole.attempt,
    };
    logger.warn({ msg: 'A worker signed another proof than it sent', ...about });
    return UNSIGNED;
  }

  /** Charges a proven answer and hands it to its client, who never waits for long. */
  async function settle(
    job: LockedJob,
    answer: ProvenAnswer,
    { response, delivery, stages, claim, isStream, created }: RequestContext,
  ): Promise<void> {
    const { countedTokens, usage } = await settlements.count(job, answer);
    const { text, reasoning, finishReason, isTruncated, engine, reservation } = answer;
    delivery.finish({ finishReason, isTruncated, usage });
    const receipt = await settlements.receipt(job, answer);
    const stored = settlements.store(job, claim, {
      text,
      reasoning,
      finishReason,
      isTruncated,
      usage,
      created,
      ...receipt,
      modelId: job.model.id,
      escrowTx: job.escrowTx,
      worker: { address: reservation.worker.address, engine },
    });
    const settling = settlements.settle({ job, answer, countedTokens, stored, stages });
    void settling.ending.then(claim.end);
    const waitMs = isStream ? STREAM_SETTLEMENT_WAIT_MS : PLAIN_SETTLEMENT_WAIT_MS;
    const known = await knownWithin(waitMs, settling, time);
    if (!isStream && known && known.end.status !== 'settled') {
      return delivery.fail(endingError(job, known));
    }
    if (!response.headersSent) response.set('server-timing', stages.header());
    delivery.settled({ ...settlementOf(known), ...receipt });
  }

  /**
   * The client's own stop sequence came first, or the reasoning used its token limit up: an answer
   * without text, and without a charge.
   */
  async function deliverNothing(
    { model }: LockedJob,
    { delivery, messages }: Pick<RequestContext, 'delivery' | 'messages'>,
    finishReason: 'stop' | 'length',
  ): Promise<void> {
    const prompt_tokens = await services.tokens.prompt(model.id, messages);
    const usage = { prompt_tokens, completion_tokens: 0, total_tokens: prompt_tokens };
    delivery.begin();
    delivery.finish({ finishReason, isTruncated: false, usage });
    delivery.settled();
  }

  /** Everything after the lock. Whatever happens, the job comes to an end and its client hears it. */
  async function answer(dispatchable: Dispatchable, context: RequestContext): Promise<void> {
    const { job } = dispatchable;
    const { delivery, stages } = context;
    try {
      const dispatched = await relay(dispatchable, context);
      stages.mark('worker');
      const proven = 'kind' in dispatched ? dispatched : await check(job, dispatched);
      if (!('kind' in proven)) return await settle(job, proven, context);
      // It will not be settled.
      context.claim.end();
      const error = await refunds.refund(job, proven);
      if (proven.kind === 'limit_reached') await deliverNothing(job, context, 'length');
      else if (isStopped(proven, dispatchable.chat)) await deliverNothing(job, context, 'stop');
      else delivery.fail(error);
    } catch (error) {
      context.claim.end();
      logger.error({ msg: 'Failed to run a job', job_id: job.id, err: error });
      void work.keepGoing(job, escrow.fail(job, 'worker_error'));
      delivery.fail(toApiError(error));
    }
  }

  return {
    async complete({ payer, identity, request, response }) {
      // The server waits for it, also once its client has left.
      const end = background.begin();
      try {
        const { wallet } = payer;
        const clientGone = abortWhenLeft(response);
        const trace = traceOf(response);
        const stages = createStages((name, startMs, endMs) => {
          services.observeStage(name, endMs - startMs);
          trace.stage(name, startMs, endMs);
        });
        const isStream = request.stream ?? false;
        const includeUsage = request.stream_options?.include_usage ?? false;
        const draft = escrow.draft(wallet);
        const claim = await idempotency.claim(identity, draft.id);
        noteWhenLeft(response, claim);
        const { delivered: onWhole } = claim;
        const form = { response, publicUrl, isStream, includeUsage, onWhole };
        if (claim.status === 'replay') {
          const { jobId, copy } = claim;
          return await replayAnswer({
            ...form,
            jobId,
            copy,
            ...(await settlementBefore({ wallet, jobId })),
          });
        }
        const admitting = admit(services, { payer, request, draft, clientGone });
        const { job, reservation } = await admitting.catch((error) => notAdmitted(claim, error));
        services.observeLock(job);
        stages.mark('lock');
        response.set({ 'x-svc-job-id': job.id, 'x-svc-tx-signature': job.escrowTx });
        recordJob(response, { modelId: job.model.id, stages });

        const created = Number(clock.nowSeconds());
        const delivery = createDelivery({
          ...form,
          identity: { jobId: job.id, modelId: job.model.id, created },
        });
        const chat = chatForWorker(request);
        const { messages } = request;
        const firstMs = firstSilenceMs(messages);
        const dispatchable = {
          job,
          reservation,
          chat,
          firstSilenceMs: firstMs,
          clientGone,
          isStream,
        };
        const context = { response, delivery, stages, claim, isStream, messages, created };
        await work.keepGoing(job, answer(dispatchable, context));
        services.observeJob({ job, wallet, durationsMs: stages.durationsMs() });
      } finally {
        end();
      }
    },
    drain: background.drain,
  };
}

/** The end of a job whose worker sent a proof that it did not sign. */
const UNSIGNED: UnprovenEnd = {
  kind: 'failed',
  reason: 'proof_invalid',
  hasBegun: true,
  cause: 'not its signature',
};

/** A client that left before the whole answer may have lost it; also where it was an error. */
function noteWhenLeft(response: Response, { lost }: Answered): void {
  if (response.closed) lost();
  else response.once('close', lost);
}

/** Whether no worker had any text for a request with stop sequences. */
function isStopped(end: UnprovenEnd, chat: Dispatchable['chat']): boolean {
  return (
    end.kind === 'failed' && end.reason === 'empty_output' && !end.busy && chat.stop !== undefined
  );
}

function hasLockedNothing(error: unknown): boolean {
  return error instanceof ApiError || error instanceof ClientLeftError || isUnsent(error);
}

/** The ledger was out of reach before the lock was given to it. */
function isUnsent(error: unknown): boolean {
  return error instanceof LedgerUnavailableError && error.signature === null;
}
