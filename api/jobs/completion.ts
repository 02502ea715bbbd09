import type { PublicKey } from '@solana/web3.js';
import type { Response } from 'express';
import { creditsNumber, sha256Text } from '../../common/format.ts';
import { firstSilenceMs, promptTexts } from '../../common/tokenizers/tokenCounts.ts';
import { type Background, createBackground, within, withResolvers } from '../../common/wait.ts';
import { isEnded } from '../../programs/client/accounts.ts';
import type { ProvenOutput } from '../../programs/client/proof.ts';
import type { ChatCompletionRequest } from '../contracts/chatCompletion.ts';
import { toApiError } from '../contracts/errors.ts';
import type { FormatCheck } from '../format/formatCheck.ts';
import type { Escrow } from '../ledger/escrow.ts';
import { type LockedJob, LockUndecidedError, type SettlementRecord } from '../ledger/job.ts';
import { checkProof, type ProvenAnswer, type WholeAnswer } from '../ledger/proof.ts';
import {
  type AnswerFormat,
  abortWhenLeft,
  createDelivery,
  type Delivery,
} from '../response/delivery.ts';
import type { Payer } from '../sql/accounts.ts';
import type { JobProgress, JobRow } from '../sql/jobs.ts';
import { createStages, type StageName, type Stages } from '../telemetry/tracing.ts';
import {
  type AdmissionServices,
  admit,
  chatForWorker,
  hasLockedNothing,
  leastPrompt,
} from './admission.ts';
import type { AttemptResult, TextEvent, UnprovenResult } from './attempt.ts';
import { type NewClaim, type RequestIdentity, replayAnswer } from './claim.ts';
import { type Dispatchable, type DispatchServices, dispatch, refreshPool } from './dispatch.ts';
import { isStopped } from './emptyAnswers.ts';
import { createHeadStart } from './headStart.ts';
import type { Idempotency } from './idempotency.ts';
import { createJobWork, type JobWatch, type JobWork } from './jobWatch.ts';
import { endingError, refundUnproven } from './refund.ts';
import {
  awaitSettlement,
  countTokens,
  settleAnswer,
  settlementOf,
  storeForRepeats,
  usageOf,
} from './settlement.ts';

export interface CompletionServices extends AdmissionServices, Omit<DispatchServices, 'directory'> {
  idempotency: Idempotency;
  escrow: Escrow;
  formats: FormatCheck;
  programId: PublicKey;
  watch: JobWatch;
  /** The wallet's job as the mirror has it. */
  findJob: (key: { wallet: string; jobId: string }) => Promise<JobRow | undefined>;
  publicUrl: string;
  observeStage: (name: StageName, durationMs: number) => void;
  /** Counts the job until its end. */
  observeLock: (job: LockedJob) => void;
  /** Stores a worker's speed, by which every instance chooses workers. */
  observeFirstToken: (seen: { worker: string; modelId: string; firstTokenMs: number }) => void;
  /** Stores how long the stages of a wallet's job took. */
  observeJob: (seen: {
    job: LockedJob;
    wallet: string;
    durationsMs: ReturnType<Stages['durationsMs']>;
  }) => void;
  /** Signs that this answer was delivered; see the delivery receipt in SECURITY.md. */
  signReceipt: (job: LockedJob, output: ProvenOutput) => Promise<string>;
}

interface CompleteOptions {
  payer: Payer;
  identity: RequestIdentity;
  request: ChatCompletionRequest;
  /** The format that the request came in. */
  format: AnswerFormat;
  response: Response;
}

/** A plain answer waits this long for its settlement and for the mirror to show it. */
const PLAIN_SETTLEMENT_WAIT_MS = 10_000;
/** A finished stream is held open this long for its trailers. */
const STREAM_SETTLEMENT_WAIT_MS = 3_000;
/** A repeated answer waits this long for the ledger's event while the mirror lacks its settlement. */
const EVENT_WAIT_MS = 1_000;

/**
 * A worker that begins sooner gets its first text passed on before the ledger's price is read. Any
 * other still reads its prompt then.
 */
const PRICE_READ_AFTER_MS = 10;
/** An answer that has ended waits so long for that price: only for a node that is away. */
const PRICE_WAIT_MS = 1_000;

/** What the request path is made of, in this process. */
interface RequestPath extends CompletionServices {
  background: Background;
  work: JobWork;
}

/** A locked job, and the request that became it. */
interface RunningJob extends Dispatchable {
  response: Response;
  delivery: Delivery;
  stages: Stages;
  claim: NewClaim;
  request: ChatCompletionRequest;
  /** Unix seconds of the ledger. */
  created: number;
  /** The job at the ledger's price, read while its worker writes; undefined when it was not. */
  pricing?: Promise<LockedJob | undefined>;
}

export type Completions = ReturnType<typeof createCompletions>;

/** The request path: claim, admit, lock, dispatch, check, store, settle, deliver. */
export function createCompletions(services: CompletionServices) {
  const { watch, logger } = services;
  const background = createBackground();
  const work = createJobWork({ background, watch, logger });
  const path: RequestPath = { ...services, background, work };
  return {
    /** Answers one request, from its price to its settlement. @throws ApiError before any lock */
    complete(options: CompleteOptions): Promise<void> {
      const completing = complete(path, options);
      // The server waits for it, also once its client has left.
      background.add(completing.catch(() => undefined));
      return completing;
    },
    /** Resolves when every request has ended, and its job on the ledger, too. */
    drain: background.drain,
  };
}

async function complete(path: RequestPath, options: CompleteOptions): Promise<void> {
  const { payer, identity, request, format, response } = options;
  const { wallet } = payer;
  const clientGone = abortWhenLeft(response);
  const stages = stagesOf(path, response);
  const draft = path.escrow.draft(wallet);
  const claim = await path.idempotency.claim(identity, draft.id);
  // A client that left before the whole answer may have lost it; also where it was an error.
  if (response.closed) claim.lost();
  else response.once('close', claim.lost);
  const form = {
    response,
    format,
    publicUrl: path.publicUrl,
    isStream: request.stream ?? false,
    onWhole: claim.delivered,
  };
  if (claim.status === 'replay') {
    const { jobId, copy } = claim;
    const settlement = await findSettlement(path, { wallet, jobId });
    return replayAnswer({ ...form, jobId, wallet, copy, ...settlement });
  }
  const chat = chatForWorker(request);
  const headStart = createHeadStart(path.workers, { draft, chat }, path.time);
  const onLockSent = headStart.begin;
  const admitting = admit(path, { payer, request, draft, clientGone, onLockSent });
  const { job, reservation } = await admitting.catch((error) => {
    headStart.drop();
    return dropClaim(path, claim, error);
  });
  path.observeLock(job);
  stages.mark('lock');
  response.locals.job = { modelId: job.model.id, stages };

  const created = Number(path.clock.nowSeconds());
  const running: RunningJob = {
    ...{ job, reservation, chat, claim, request, created, stages },
    asked: headStart.of(job),
    firstSilenceMs: firstSilenceMs(promptTexts(request)),
    clientGone,
    isStream: form.isStream,
    response,
    delivery: createDelivery({
      ...form,
      identity: {
        jobId: job.id,
        wallet,
        modelId: job.model.id,
        created,
        escrowTx: job.escrowTx,
        requestSalt: hexOf(job.requestSalt),
      },
    }),
  };
  await path.work.trackToEnd(job, run(path, running));
  path.observeJob({ job, wallet, durationsMs: stages.durationsMs() });
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function stagesOf({ observeStage }: RequestPath, response: Response): Stages {
  const { trace } = response.locals;
  return createStages((name, startMs, endMs) => {
    observeStage(name, endMs - startMs);
    trace.stage(name, startMs, endMs);
  });
}

/**
 * The settlement of an earlier job. The mirror has it once it shows the job's end: before, its balance
 * is without the charge. Until then the ledger's own event has it.
 */
async function findSettlement(
  { findJob, watch, escrow, time }: RequestPath,
  key: { wallet: string; jobId: string },
): Promise<{ settlementTx: string | null; creditsRemaining: number | null }> {
  const job = await findJob(key);
  const hasEnded = ({ status }: JobProgress) => isEnded(status);
  const mirrored = job && (await watch.waitFor(job.address, hasEnded, { timeoutMs: 0 }));
  const reading = mirrored ?? within(EVENT_WAIT_MS, escrow.readSettlement(key, null), time);
  const record: SettlementRecord | undefined = await reading;
  return {
    settlementTx: record?.settlement_tx ?? null,
    creditsRemaining: record ? creditsNumber(record.available_credits) : null,
  };
}

/** Releases the claim of a request that was not admitted, if it certainly locked nothing. */
async function dropClaim(path: RequestPath, claim: NewClaim, error: unknown): Promise<never> {
  if (error instanceof LockUndecidedError) {
    path.background.add(
      error.end.then((end) => (end === 'undone' ? release(path, claim) : undefined)),
    );
  } else if (hasLockedNothing(error)) await release(path, claim);
  throw error;
}

/** So that a repeat of the request runs at once. */
async function release({ logger }: RequestPath, claim: NewClaim): Promise<void> {
  try {
    await claim.release();
  } catch (error) {
    // Its repeat has to wait until the ledger shows that there is no such job.
    logger.warn({ msg: 'Failed to forget a request', err: error });
  }
}

/** Everything after the lock. In every case the job ends, and its client gets a response. */
async function run(path: RequestPath, running: RunningJob): Promise<void> {
  const { chat, claim, delivery, stages } = running;
  let { job } = running;
  try {
    const dispatched = await relay(path, running);
    stages.mark('worker');
    job = await priced(path, running);
    const checked =
      dispatched.kind === 'whole' ? await check(path, job, dispatched.answer) : dispatched;
    if (checked.kind === 'proven') return await settle(path, { ...running, job }, checked.answer);
    // It will not be settled.
    claim.end();
    const error = await refundUnproven(path, job, checked);
    if (checked.kind === 'limit_reached') await deliverNothing(path, running, 'length');
    else if (isStopped(checked, chat)) await deliverNothing(path, running, 'stop');
    else delivery.fail(error);
  } catch (error) {
    claim.end();
    path.logger.error({ msg: 'Failed to run a job', job_id: job.id, err: error });
    void path.work.trackToEnd(job, path.escrow.fail(job, 'worker_error'));
    delivery.fail(toApiError(error));
  }
}

/** Passes a job's text on as it comes. @returns how its dispatch ended */
async function relay(path: RequestPath, running: RunningJob): Promise<AttemptResult> {
  const { job, delivery } = running;
  let hasBegun = false;
  const { promise: hasText, resolve: noteText } = withResolvers<void>();
  for await (const event of dispatch(path, running)) {
    switch (event.type) {
      case 'started':
        path.escrow.acknowledge(job, event.workerAddress, event.attempt);
        running.pricing ??= readPriced(path, job, hasText);
        break;
      case 'text':
        if (!hasBegun) begin(path, running, event);
        hasBegun = true;
        for (const piece of event.pieces) delivery.write(piece);
        noteText();
        break;
      case 'discarded':
        delivery.discard();
        hasBegun = false;
        break;
      case 'ended':
        noteText();
        return event.result;
    }
  }
  throw new Error('A dispatch ended without its last event');
}

function begin(path: RequestPath, running: RunningJob, { worker, firstTokenMs }: TextEvent): void {
  const { job, response, delivery, stages, isStream } = running;
  stages.note('first_token');
  // A stream's headers leave with its first text.
  if (isStream) response.set('server-timing', stages.header());
  delivery.begin(worker);
  path.observeFirstToken({ worker: worker.address, modelId: job.model.id, firstTokenMs });
}

/** Begins with the answer's first text, or a little after the worker got the job. */
function readPriced({ escrow, time }: RequestPath, job: LockedJob, hasText: Promise<void>) {
  const reading = within(PRICE_READ_AFTER_MS, hasText, time).then(() => escrow.readPriced(job));
  // A job that failed before its answer was whole awaits it no more.
  reading.catch(() => undefined);
  return reading;
}

/**
 * The job at the price of the ledger. The quoted price stands where no node shows another in time; the
 * settlement decides what is charged.
 */
async function priced({ time }: RequestPath, { job, pricing }: RunningJob): Promise<LockedJob> {
  return (pricing && (await within(PRICE_WAIT_MS, pricing, time))) ?? job;
}

async function check(
  { programId, directory, time, logger }: RequestPath,
  job: LockedJob,
  whole: WholeAnswer,
): Promise<{ kind: 'proven'; answer: ProvenAnswer } | UnprovenResult> {
  const key = { programId, job: job.address };
  let answer = checkProof(whole, key);
  if (!answer) {
    // Its key on the ledger may be a new one, which the pool learns within a second.
    await refreshPool(directory, time);
    answer = checkProof(whole, key);
  }
  const { reservation, attempt } = whole;
  if (answer) {
    reservation.succeeded();
    return { kind: 'proven', answer };
  }
  reservation.failed();
  const about = { job_id: job.id, worker: reservation.worker.address, attempt };
  logger.warn({ msg: 'A worker signed another proof than it sent', ...about });
  return { kind: 'failed', reason: 'proof_invalid', hasBegun: true, cause: 'not its signature' };
}

/** Charges a proven answer and delivers it. The client waits for the settlement only so long. */
async function settle(path: RequestPath, running: RunningJob, answer: ProvenAnswer): Promise<void> {
  const { job, chat, response, delivery, stages, claim, isStream, created } = running;
  const { text, reasoning, toolCalls, finishReason, isTruncated, engine, reservation, attempt } =
    answer;
  const [{ countedTokens, usage, creditsCharged }, deliveryReceipt, isFormatKept] =
    await Promise.all([
      countTokens(path.tokens, job, answer),
      path.signReceipt(job, answer.proof),
      chat.response_format === undefined ? undefined : path.formats.judge(chat, answer),
    ]);
  const proof = {
    worker: reservation.worker.address,
    attempt,
    outputHash: sha256Text(hexOf(answer.proof.outputHash)),
    requestCommitment: hexOf(answer.requestCommitment),
    answerDetails: hexOf(answer.answerDetails),
    deliveryReceipt,
  };
  const completedAt = Number(path.clock.nowSeconds());
  const result = {
    ...{ finishReason, isTruncated, completedAt },
    ...{ usage, creditsCharged, isFormatKept, proof },
  };
  delivery.finish(result);
  const stored = storeForRepeats(path, job, claim, {
    ...result,
    ...{ text, reasoning, toolCalls, created, engine },
    modelId: job.model.id,
    escrowTx: job.escrowTx,
    requestSalt: hexOf(job.requestSalt),
  });
  const pending = settleAnswer(path, { job, answer, countedTokens, stored, stages });
  void pending.result.then(claim.end);
  const waitMs = isStream ? STREAM_SETTLEMENT_WAIT_MS : PLAIN_SETTLEMENT_WAIT_MS;
  const known = await awaitSettlement(waitMs, pending, path.time);
  if (!isStream && known && known.result.status !== 'settled') {
    return delivery.fail(endingError(job, known));
  }
  if (!response.headersSent) response.set('server-timing', stages.header());
  delivery.settled(settlementOf(known));
}

/**
 * The client's own stop sequence came first, or the reasoning used its token limit up: an answer
 * without text, and without a charge.
 */
async function deliverNothing(
  { tokens, clock }: RequestPath,
  { job, chat, delivery, request }: RunningJob,
  finishReason: 'stop' | 'length',
): Promise<void> {
  const usage = usageOf({
    promptTokens: await tokens.prompt(job.model.id, leastPrompt(request)),
    completionTokens: 0,
    // Its reasoning used the limit up; before a stop sequence there was none.
    reasoningTokens: finishReason === 'length' ? job.tokenLimit : 0,
    charged: 0n,
  });
  const isFormatKept = chat.response_format === undefined ? undefined : null;
  delivery.begin();
  delivery.finish({
    ...{ finishReason, isTruncated: false, completedAt: Number(clock.nowSeconds()) },
    ...{ usage, creditsCharged: 0, isFormatKept },
  });
  delivery.settled();
}
