import type { PublicKey } from '@solana/web3.js';
import {
  firstSilenceMs,
  promptTexts,
  type TokenCounts,
} from '../../common/tokenizers/tokenCounts.ts';
import { chargeCredits } from '../../programs/client/pricing.ts';
import type { FormatCheck } from '../format/formatCheck.ts';
import { chatForWorker, quote } from '../jobs/admission.ts';
import { type AttemptOptions, type AttemptResult, runAttempt } from '../jobs/attempt.ts';
import { type RefundServices, refundUnproven, refundWhenDue } from '../jobs/refund.ts';
import { countOutput } from '../jobs/settlement.ts';
import type { Escrow } from '../ledger/escrow.ts';
import type { LockedJob } from '../ledger/job.ts';
import { checkProof, type ProvenAnswer } from '../ledger/proof.ts';
import { type ModelRow, priceOf, type WorkerRow } from '../sql/workers.ts';
import { newWorker, type Reservation } from '../workers/capacity.ts';
import type { WorkerChat } from '../workers/client.ts';
import { medianMs } from '../workers/directory.ts';
import { type CanaryQuestion, isRight } from './questions.ts';

export interface CanaryServices
  extends Required<Pick<AttemptOptions, 'workers' | 'clock' | 'time'>>,
    Pick<RefundServices, 'work'> {
  escrow: Escrow;
  tokens: TokenCounts;
  programId: PublicKey;
  formats: Pick<FormatCheck, 'judge'>;
}

export type Trial = {
  firstTokenMs: number | undefined;
  /** Whether it kept the question's schema; absent without one, and where that was not found out. */
  keepsFormat?: boolean | null | undefined;
  /** Whether it called the question's tool, as above. */
  callsTools?: boolean | null | undefined;
} & (
  | {
      kind: 'proven';
      /** Its text, or the arguments of its calls. */
      text: string;
      claimedTokens: number;
      countedTokens: number;
      chargedCredits: bigint;
    }
  /** Nothing was charged. */
  | { kind: 'unproven'; fault: string }
  /** It had no capacity, which is no fault. Nothing was charged. */
  | { kind: 'full' }
);

/**
 * Puts one question to one worker as a job like any other, and waits for the job's end on the ledger.
 * It is settled if the worker proved its answer, else it ends without a charge.
 *
 * @param options.interrupted aborts when the answer is not waited for any longer
 * @throws ApiError, PriceChangedError, LedgerUnavailableError when the job cannot be locked
 */
export async function tryWorker(
  services: CanaryServices,
  options: {
    wallet: string;
    model: ModelRow;
    worker: WorkerRow;
    question: CanaryQuestion;
    interrupted: AbortSignal;
  },
): Promise<Trial> {
  const { escrow, tokens, programId } = services;
  const { wallet, model, worker, question, interrupted } = options;
  const { request } = question;
  const quoted = await quote(model, request, tokens);
  const job = await escrow.lock({ wallet, sequence: null }, quoted, escrow.draft(wallet));
  try {
    const chat = chatForWorker(request);
    const silenceMs = firstSilenceMs(promptTexts(request));
    const trying = { job, worker, chat, firstSilenceMs: silenceMs, interrupted };
    const { result, firstTokenMs } = await attempt(services, trying);
    if (result.kind !== 'whole') {
      await refundUnproven(services, job, result);
      if (result.kind === 'failed' && result.busy) return { kind: 'full', firstTokenMs };
      const fault = result.kind === 'failed' ? result.reason : result.kind;
      const isBroken = result.kind === 'refused';
      return {
        ...{ kind: 'unproven', fault, firstTokenMs },
        ...(isBroken && request.response_format !== undefined && { keepsFormat: false }),
        ...(request.tools !== undefined && { callsTools: false }),
      };
    }
    const answer = checkProof(result.answer, { programId, job: job.address });
    if (answer) {
      // A cut answer is no value of so small a schema.
      const keepsFormat = await services.formats.judge(chat, { ...answer, finishReason: 'stop' });
      const callsTools = await judgeCalls(services, request, answer);
      const settled = await settle(services, job, answer);
      return { firstTokenMs, keepsFormat, callsTools, ...settled };
    }
    await escrow.fail(job, 'proof_invalid');
    return { kind: 'unproven', fault: 'proof_invalid', firstTokenMs };
  } catch (error) {
    // A fault on our side must not leave the job open.
    await escrow.fail(job, 'worker_error');
    throw error;
  }
}

async function attempt(
  { escrow, workers, clock, time }: CanaryServices,
  options: {
    job: LockedJob;
    worker: WorkerRow;
    chat: WorkerChat;
    firstSilenceMs: number;
    interrupted: AbortSignal;
  },
): Promise<{ result: AttemptResult; firstTokenMs: number | undefined }> {
  const { job, worker, chat, firstSilenceMs, interrupted } = options;
  const { endpoint, address: workerAddress } = worker;
  const { id: jobId, address: jobAddress, tokenLimit, requestSalt, deadlines } = job;
  const asked = { tokenLimit, requestSalt, chat };
  let firstTokenMs: number | undefined;
  const reservation = reservationAt(worker, (observedMs) => {
    firstTokenMs = observedMs;
  });
  const events = runAttempt({
    reservation,
    task: { endpoint, workerAddress, jobId, jobAddress, attempt: 1, ...asked },
    workers,
    clock,
    time,
    deadlines,
    firstSilenceMs,
    // As if another worker could go on, so that a silent one is not waited for.
    findSuccessor: async () => undefined,
    clientGone: interrupted,
    isStream: false,
  });
  for (;;) {
    const { done, value } = await events.next();
    if (done) return { result: value, firstTokenMs };
    if (value.type === 'started') escrow.acknowledge(job, workerAddress, 1);
  }
}

/** Whether the arguments of each call are a value of the question's tool. */
async function judgeCalls(
  { formats }: CanaryServices,
  { tools }: CanaryQuestion['request'],
  { toolCalls }: ProvenAnswer,
): Promise<boolean | null | undefined> {
  const [tool] = tools ?? [];
  if (!tool) return undefined;
  const format = { type: 'json_schema', json_schema: { schema: tool.function.parameters } };
  const judging = toolCalls.map(({ arguments: text }) =>
    formats.judge({ response_format: format }, { text, finishReason: 'stop' }),
  );
  const kept = await Promise.all(judging);
  // It has to be called: only a whole answer without a call ends as a failure.
  if (kept.length === 0 || kept.includes(false)) return false;
  return kept.includes(null) ? null : true;
}

async function settle(services: CanaryServices, job: LockedJob, answer: ProvenAnswer) {
  const { escrow, tokens } = services;
  const { text, toolCalls, proof } = answer;
  const counted = await countOutput(tokens, job.model.id, answer);
  const countedTokens = Math.min(counted, job.tokenLimit);
  // No client asks for a canary job again: there is nothing to keep.
  const settled = await escrow.settle(job, answer, countedTokens, Promise.resolve());
  const result = settled.status === 'overdue' ? await refundWhenDue(services, job) : settled;
  if (result.status !== 'settled') return { kind: 'unproven' as const, fault: result.status };
  const claimedTokens = proof.completionTokens;
  const charged = Math.min(claimedTokens, countedTokens);
  return {
    kind: 'proven' as const,
    text: [text, ...toolCalls.map((call) => call.arguments)].join(' '),
    claimedTokens,
    countedTokens,
    chargedCredits: chargeCredits(priceOf(job.model), charged, job.lockCredits),
  };
}

/** At a worker that the pool did not choose, so that the pool learns nothing from it. */
function reservationAt(worker: WorkerRow, observeFirstToken: (ms: number) => void): Reservation {
  const ignore = () => undefined;
  const ignored = {
    succeeded: ignore,
    failed: ignore,
    foundBusy: ignore,
    refusedConnection: ignore,
    hasChanged: () => false,
    release: ignore,
  };
  return { worker: newWorker(worker), observeFirstToken, ...ignored };
}

export interface WorkerReport {
  worker: string;
  jobs_asked: number;
  jobs_proven: number;
  /** For want of capacity. They count neither as right nor as wrong. */
  jobs_refused: number;
  answers_right: number;
  /** Answers to questions with a schema, and how many of them kept it. */
  formats_judged: number;
  formats_kept: number;
  /** Questions with a tool that had to be called, and how many called it. */
  tools_judged: number;
  tools_called: number;
  tokens_claimed: number;
  tokens_counted: number;
  first_token_p50_ms: number | null;
  credits_charged: bigint;
  /** Why the worker fails the test; empty when it passes. */
  faults: string[];
}

/** @param options.trials of each worker, in the order of the questions */
export function reportWorkers(options: {
  questions: readonly CanaryQuestion[];
  trials: ReadonlyMap<string, readonly Trial[]>;
  rightMin: number;
}): WorkerReport[] {
  const { questions, trials, rightMin } = options;
  return [...trials].map(([worker, own]) => {
    const answers = questions.map((_, index) => answerOf(own[index]));
    const proven = own.filter((trial) => trial.kind === 'proven');
    const refused = own.filter(({ kind }) => kind === 'full').length;
    const answered = own.length - refused;
    const right = questions.filter((question, index) => isRight(question, answers[index] ?? ''));
    const formats = own.flatMap(({ keepsFormat }) => keepsFormat ?? []);
    const kept = formats.filter(Boolean).length;
    const tools = own.flatMap(({ callsTools }) => callsTools ?? []);
    const called = tools.filter(Boolean).length;
    const firstTokens = own.flatMap(({ firstTokenMs }) => firstTokenMs ?? []);
    return {
      worker,
      jobs_asked: own.length,
      jobs_proven: proven.length,
      jobs_refused: refused,
      answers_right: right.length,
      formats_judged: formats.length,
      formats_kept: kept,
      tools_judged: tools.length,
      tools_called: called,
      tokens_claimed: proven.reduce((sum, { claimedTokens }) => sum + claimedTokens, 0),
      tokens_counted: proven.reduce((sum, { countedTokens }) => sum + countedTokens, 0),
      first_token_p50_ms: medianMs(firstTokens) ?? null,
      credits_charged: proven.reduce((sum, { chargedCredits }) => sum + chargedCredits, 0n),
      faults: [
        ...unprovenFaults(own),
        // Divided, which rounds as the reading of 0.28 did: the product 0.28 × 25 is above 7. Where
        // none was answered, 0 / 0 is below no share.
        ...(right.length / answered < rightMin
          ? [`right in ${right.length} of ${answered}, less than ${rightMin}`]
          : []),
        ...(kept < formats.length ? [`kept the schema in ${kept} of ${formats.length}`] : []),
        ...(called < tools.length ? [`called the tool in ${called} of ${tools.length}`] : []),
      ],
    };
  });
}

function unprovenFaults(trials: readonly Trial[]): string[] {
  const counts = new Map<string, number>();
  for (const trial of trials) {
    if (trial.kind === 'unproven') counts.set(trial.fault, (counts.get(trial.fault) ?? 0) + 1);
  }
  return [...counts].map(([fault, count]) => `${count} of ${trials.length} not proven: ${fault}`);
}

function answerOf(trial: Trial | undefined): string | undefined {
  return trial?.kind === 'proven' ? trial.text.trim() : undefined;
}
