import type { Logger } from '../../common/logger.ts';
import { within } from '../../common/wait.ts';
import { HEALTH_TIMEOUT_MS } from '../../common/workerProtocol.ts';
import { asWorkerError, WorkerError } from '../protocol/errors.ts';
import type { Engine } from './engine.ts';
import { FIELD_TRIALS, TRIED_FIELDS, type TriedField } from './toolTrial.ts';

/** A health check then answers that the trial still runs, before the gateway gives it up. */
const TRIAL_WAIT_MS = HEALTH_TIMEOUT_MS / 3;
/** A model of hundreds of gigabytes is loaded from a disk within this time. */
const TRIAL_MS_MAX = 30 * 60_000;
/** Health needs no key, so several calls share one trial and one check. */
const RETRY_MS = 2_000;
const ALIVE_MS = 5_000;

const TOO_LONG = new WorkerError('upstream_failed', 'It took longer than half an hour');

/** One token shows that the model is loaded, and costs nearly nothing. */
const TRIAL_TOKENS = 1;
const TRIAL_MESSAGES = [{ role: 'user' as const, content: 'Hello' }];

/**
 * Tries each model once with a completion of one token, however long it takes. An upstream loads a
 * model with its first request, and in a job that would look like silence. Afterwards a cheap check
 * and the answers to jobs show that the upstream is there. After an outage it tries the models again.
 *
 * @param options.now Unix time in milliseconds
 * @param options.trialWaitMs how long a caller waits for a trial
 */
export function createReadiness(options: {
  engine: Engine;
  logger: Logger;
  now: () => number;
  trialWaitMs?: number | undefined;
}) {
  const { engine, logger, now, trialWaitMs = TRIAL_WAIT_MS } = options;
  const closing = new AbortController();
  /** By model, the milliseconds to its first token. */
  const proven = new Map<string, number>();
  /** By field, the models whose server does not pass it over. */
  const passed = { response_format: new Set<string>(), tools: new Set<string>() };
  let trial: Promise<void> | undefined;
  let check: Promise<void> | undefined;
  let aliveAtMs = Number.NEGATIVE_INFINITY;
  let failure: { error: WorkerError; atMs: number } | undefined;
  let loggedReason: string | undefined;

  /** The clock may fall back, so the difference counts in both directions. */
  const isWithin = (ms: number, sinceMs: number): boolean => Math.abs(now() - sinceMs) < ms;

  function logChange(reason: string | undefined): void {
    if (reason === loggedReason) return;
    if (reason === undefined) logger.info({ msg: 'Found the upstream ready' });
    else logger.error({ msg: 'Found the upstream not ready', cause: reason });
    loggedReason = reason;
  }

  function recordFailure(reason: string, cause: WorkerError): WorkerError {
    const { retryAfterSeconds } = cause;
    const error = notReady(reason, { cause, retryAfterSeconds });
    failure = { error, atMs: now() };
    if (!closing.signal.aborted) logChange(reason);
    return error;
  }

  async function tryModel(model: string): Promise<void> {
    const startedAtMs = now();
    try {
      await generateToken(engine, model, closing.signal);
      proven.set(model, Math.max(0, Math.round(now() - startedAtMs)));
      void tryFields(model);
    } catch (error) {
      const cause = asWorkerError(error);
      throw recordFailure(`its trial of '${model}' failed. ${cause.message}`, cause);
    }
  }

  /** Jobs need not wait for it. */
  async function tryFields(model: string): Promise<void> {
    for (const field of TRIED_FIELDS) {
      if (await FIELD_TRIALS[field](engine, model, closing.signal)) passed[field].add(model);
      else passed[field].delete(model);
    }
  }

  async function tryModels(models: readonly string[]): Promise<void> {
    for (const model of models) await tryModel(model);
    aliveAtMs = now();
    failure = undefined;
    logChange(undefined);
  }

  async function checkUpstream(): Promise<void> {
    try {
      await engine.check?.();
      aliveAtMs = now();
    } catch (error) {
      proven.clear();
      const cause = asWorkerError(error);
      throw recordFailure(cause.message, cause);
    }
  }

  async function requireTrial(models: readonly string[]): Promise<void> {
    if (trial === undefined && failure && isWithin(RETRY_MS, failure.atMs)) throw failure.error;
    trial ??= tryModels(models).finally(() => {
      trial = undefined;
    });
    const hasEnded = await within(
      trialWaitMs,
      trial.then(() => true),
    );
    // The trial may have begun before the worker hosted all of these.
    if (hasEnded && models.every((model) => proven.has(model))) return;
    throw notReady(`it has not yet ended its trial of ${models.join(', ')}`);
  }

  return {
    /** The same engine; its answers to jobs show that it is there. */
    engine: {
      kind: engine.kind,
      async *generate(chat, limits) {
        try {
          for await (const event of engine.generate(chat, limits)) {
            aliveAtMs = now();
            yield event;
          }
        } catch (error) {
          // The next health check asks the upstream itself.
          if (!limits.signal.aborted) aliveAtMs = Number.NEGATIVE_INFINITY;
          throw error;
        }
      },
    } satisfies Engine,
    /**
     * Resolves while each of these models has answered a trial, and the engine was there a moment ago.
     *
     * @throws WorkerError `upstream_not_ready` with the reason
     */
    async require(models: readonly string[]): Promise<void> {
      if (engine.check === undefined) return;
      const unproven = models.filter((model) => !proven.has(model));
      if (unproven.length > 0) return requireTrial(unproven);
      if (isWithin(ALIVE_MS, aliveAtMs)) return;
      check ??= checkUpstream().finally(() => {
        check = undefined;
      });
      return check;
    },
    /** How long each model that was tried took to its first token, in whole milliseconds. */
    firstTokenMs: (): Record<string, number> => Object.fromEntries(proven),
    /** Those of these models whose server passed the trial of a field. */
    taking: (field: TriedField, models: readonly string[]): string[] =>
      models.filter((model) => engine.check === undefined || passed[field].has(model)),
    /** Ends running trials. */
    close: (): void => closing.abort(),
  };
}

/**
 * Generates one token, however long the model loads before.
 *
 * @throws WorkerError `upstream_failed` after half an hour, or once `closing` aborts
 */
export async function generateToken(
  engine: Engine,
  model: string,
  closing?: AbortSignal,
): Promise<void> {
  const late = AbortSignal.timeout(TRIAL_MS_MAX);
  const signal = closing ? AbortSignal.any([closing, late]) : late;
  const chat = { model, messages: TRIAL_MESSAGES };
  try {
    for await (const { type } of engine.generate(chat, { tokenLimit: TRIAL_TOKENS, signal })) {
      // An upstream that ignores the limit would go on.
      if (type !== 'alive') break;
    }
  } catch (error) {
    throw signal.aborted ? TOO_LONG : error;
  }
}

function notReady(
  reason: string,
  options?: ConstructorParameters<typeof WorkerError>[2],
): WorkerError {
  return new WorkerError('upstream_not_ready', `The upstream is not ready: ${reason}`, options);
}
