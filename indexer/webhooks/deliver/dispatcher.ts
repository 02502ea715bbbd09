import type pg from 'pg';
import { listen } from '../../../common/listen.ts';
import type { Logger } from '../../../common/logger.ts';
import { delay } from '../../../common/wait.ts';
import { DUE_CHANNEL } from '../../../webhookOperations/due.ts';
import { classify, FatalError } from '../../source/errors.ts';
import { createWakeUp } from '../../source/hints.ts';
import type { MakeAttempt } from './attempt.ts';
import { type ClaimedAttempt, claimDue } from './claim.ts';
import type { DeliveryLimits } from './deliveryLimits.ts';

/** The database sends no notification when a later attempt becomes due. */
const POLL_MS = 1_000;
/** Between two claims of first attempts, which cost as much as any when there are none. */
const FIRST_INTERVAL_MS = 50;
const BACKOFF_MS = 1_000;
/** Half of the time that a process has to end. */
const DRAIN_MS = 5_000;

/**
 * Makes attempts as they become due, many at a time.
 *
 * @param options.pool two connections of its own: one listens, one claims
 * @param options.onFatal called with an error that no retry can mend; nothing is claimed any more
 */
export function createDispatcher(options: {
  pool: pg.Pool;
  limits: DeliveryLimits;
  makeAttempt: MakeAttempt;
  logger: Logger;
  onFatal: (error: FatalError) => void;
  listenProbeMs?: number | undefined;
}): { start(): void; stop(): Promise<void> } {
  const { pool, limits, makeAttempt, logger, onFatal } = options;
  const stopping = new AbortController();
  const wakeUp = createWakeUp();
  const inProgress = new Set<Promise<void>>();
  let firstAtMs = Number.NEGATIVE_INFINITY;
  let running: Promise<unknown> = Promise.resolve();

  function fail(error: unknown): void {
    const failure = classify(error);
    if (failure instanceof FatalError) {
      stopping.abort();
      onFatal(failure);
      return;
    }
    // What was claimed stays claimed for its time.
    logger.warn({ msg: 'Lost the database of the webhooks', reason: failure.message });
  }

  function begin(claimed: ClaimedAttempt): void {
    const end = limits.begin(claimed);
    const attempt = makeAttempt(claimed)
      .catch(fail)
      .finally(() => {
        end();
        inProgress.delete(attempt);
        wakeUp.wake();
      });
    inProgress.add(attempt);
  }

  async function claim(kind: 'first' | 'more'): Promise<number> {
    const next = stopping.signal.aborted ? undefined : limits.next(kind);
    const claimed = next ? await claimDue(pool, next) : [];
    for (const attempt of claimed) begin(attempt);
    return claimed.length;
  }

  /** @returns when to look again at the latest, in milliseconds */
  async function claimBoth(): Promise<number> {
    const isFirstDue = performance.now() - firstAtMs >= FIRST_INTERVAL_MS;
    if (isFirstDue) firstAtMs = performance.now();
    const first = isFirstDue ? await claim('first') : 0;
    if (first + (await claim('more')) > 0) return 0;
    return isFirstDue ? POLL_MS : FIRST_INTERVAL_MS;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const waitMs = await claimBoth();
        if (waitMs > 0) await wakeUp.wait(waitMs, stopping.signal);
      } catch (error) {
        fail(error);
        await delay(BACKOFF_MS, stopping.signal);
      }
    }
  }

  return {
    start() {
      const listening = listen({
        pool,
        channel: DUE_CHANNEL,
        signal: stopping.signal,
        probeMs: options.listenProbeMs,
        onNotification: wakeUp.wake,
        onListening: wakeUp.wake,
        onLost: (error) => logger.warn({ msg: 'Lost the notifications of webhooks', err: error }),
      });
      running = Promise.all([run(), listening]);
    },
    // Claims no more attempts, and gives those in progress a few seconds to end.
    async stop() {
      stopping.abort();
      await running;
      const drained = new AbortController();
      const left = delay(DRAIN_MS, drained.signal);
      await Promise.race([Promise.all(inProgress), left]);
      drained.abort();
    },
  };
}
