import type pg from 'pg';
import { listen } from '../../../common/listen.ts';
import type { Logger } from '../../../common/logger.ts';
import { delay } from '../../../common/wait.ts';
import { DUE_CHANNEL } from '../../../webhookOperations/due.ts';
import { classify, FatalError } from '../../source/errors.ts';
import { createWakeUp } from '../../source/hints.ts';
import type { MakeAttempt } from './attempt.ts';
import type { Shares } from './shares.ts';
import { type TakenAttempt, takeDue } from './take.ts';

/** Makes attempts as they become due, many at a time. */
export interface Dispatcher {
  start(): void;
  /** Takes no more attempts, and gives those under way a few seconds to end. */
  stop(): Promise<void>;
}

/** Nobody announces that the time of a later attempt has come. */
const POLL_MS = 1_000;
/** Between two turns for first attempts, which cost as much as any when there are none. */
const FIRST_INTERVAL_MS = 50;
const BACKOFF_MS = 1_000;
/** Half of the time that a process has to end. */
const DRAIN_MS = 5_000;

/**
 * @param options.pool two connections of its own: one listens, one takes
 * @param options.onFatal told of an error that trying again cannot mend; nothing is taken any more
 */
export function createDispatcher(options: {
  pool: pg.Pool;
  shares: Shares;
  makeAttempt: MakeAttempt;
  logger: Logger;
  onFatal: (error: FatalError) => void;
  listenProbeMs?: number | undefined;
}): Dispatcher {
  const { pool, shares, makeAttempt, logger, onFatal } = options;
  const stopping = new AbortController();
  const wakeUp = createWakeUp();
  const underWay = new Set<Promise<void>>();
  let firstAtMs = Number.NEGATIVE_INFINITY;
  let running: Promise<unknown> = Promise.resolve();

  function fail(error: unknown): void {
    const failure = classify(error);
    if (failure instanceof FatalError) {
      stopping.abort();
      onFatal(failure);
      return;
    }
    // What was taken stays taken for its time.
    logger.warn({ msg: 'Lost the database of the webhooks', reason: failure.message });
  }

  function begin(job: TakenAttempt): void {
    const end = shares.begin(job);
    const attempt = makeAttempt(job)
      .catch(fail)
      .finally(() => {
        end();
        underWay.delete(attempt);
        wakeUp.wake();
      });
    underWay.add(attempt);
  }

  async function take(kind: 'first' | 'more'): Promise<number> {
    const turn = stopping.signal.aborted ? undefined : shares.turn(kind);
    const taken = turn ? await takeDue(pool, turn) : [];
    for (const job of taken) begin(job);
    return taken.length;
  }

  /** @returns when to look again at the latest, in milliseconds */
  async function takeTurns(): Promise<number> {
    const isFirstDue = performance.now() - firstAtMs >= FIRST_INTERVAL_MS;
    if (isFirstDue) firstAtMs = performance.now();
    const first = isFirstDue ? await take('first') : 0;
    if (first + (await take('more')) > 0) return 0;
    return isFirstDue ? POLL_MS : FIRST_INTERVAL_MS;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const waitMs = await takeTurns();
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
    async stop() {
      stopping.abort();
      await running;
      const drained = new AbortController();
      const left = delay(DRAIN_MS, drained.signal);
      await Promise.race([Promise.all(underWay), left]);
      drained.abort();
    },
  };
}
