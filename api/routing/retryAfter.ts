import type { KnownWorker } from './knownWorker.ts';
import { PROBE_INTERVAL_MS } from './workerHealth.ts';

/** Official clients ignore a Retry-After above a minute; within half of it much can change. */
const RETRY_AFTER_SECONDS_MAX = 30;
/** How long a job is taken to hold its slot where none has ended yet: a short answer. */
const JOB_MS_ASSUMED = 2_000;

/**
 * When a request that found no place has a chance of one: a slot comes free, a worker that cools
 * down or calls itself busy is due again, or the next probe may find one that is away.
 *
 * @param options.workers that the ledger lets take jobs of the model
 * @param options.waiting how many requests wait for the same slots
 * @returns whole seconds, 1 to 30
 */
export function retryAfterSeconds(options: {
  workers: readonly KnownWorker[];
  waiting: number;
  nowMs: number;
}): number {
  const { workers, waiting, nowMs } = options;
  const reachable = workers.filter(({ isSilent, slots }) => !isSilent && slots > 0);
  const away = workers.filter((worker) => !reachable.includes(worker));
  const full = reachable.filter(({ inFlight, slots }) => inFlight >= slots);
  const resting = reachable.filter((worker) => !full.includes(worker));
  const slotsFreedPerMs = full.reduce(
    (rate, { inFlight, jobMs }) => rate + inFlight / (jobMs || JOB_MS_ASSUMED),
    0,
  );
  const waitsMs = [
    (waiting + 1) / slotsFreedPerMs,
    ...resting.map(({ standing: { coolUntilMs, busyUntilMs } }) =>
      Math.max(coolUntilMs - nowMs, busyUntilMs - nowMs),
    ),
    ...away.map((worker) => untilBackMs(worker, nowMs)),
  ];
  const seconds = Math.ceil(Math.min(...waitsMs) / 1_000);
  return Math.min(Math.max(seconds, 1), RETRY_AFTER_SECONDS_MAX);
}

/** The next probe, at the earliest; what has been away for long is expected to stay away as long. */
function untilBackMs({ probedAtMs, answeredAtMs }: KnownWorker, nowMs: number): number {
  if (probedAtMs === Number.NEGATIVE_INFINITY) return 0;
  return Math.max(probedAtMs + PROBE_INTERVAL_MS - nowMs, nowMs - answeredAtMs);
}
