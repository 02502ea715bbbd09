import type { KnownWorker } from './worker.ts';

/**
 * An older time to first token is no reason any more to prefer another: so a worker that was slow
 * once is looked at again about once a minute.
 */
const FIRST_TOKEN_AGE_MAX_MS = 60_000;

/** For which model a worker is chosen, and when. */
interface Choice {
  modelAddress: string;
  nowMs: number;
  /** In [0, 1). */
  random: () => number;
}

/**
 * The worker to ask next, or undefined when it is better to wait for one.
 *
 * A worker without recent failures goes first, even if it takes waiting for. One that failed
 * is tried again, with one job, when it has cooled down. Only when no sound worker is left are the
 * others asked as they are: a pool in which all have failed still serves.
 *
 * @param workers that answer, host the model, and were not asked for this job
 */
export function chooseWorker(
  workers: readonly KnownWorker[],
  choice: Choice,
): KnownWorker | undefined {
  const { nowMs } = choice;
  // What says that it is busy, or takes no jobs at all, is not worth waiting for either.
  const open = workers.filter(
    ({ capacity, cooldown }) => capacity > 0 && cooldown.busyUntilMs <= nowMs,
  );
  const free = open.filter((worker) => worker.inFlight < worker.capacity);
  const ready = free.filter((worker) => isSound(worker) || isDueForTrial(worker, nowMs));
  if (ready.length > 0) return betterOfTwo(ready, choice);
  if (open.some(isSound)) return undefined;
  return free.toSorted(soonestBack)[0];
}

/** Whether nothing speaks against giving it jobs. */
function isSound({ cooldown, isSilent }: KnownWorker): boolean {
  return cooldown.failures === 0 && !isSilent;
}

function isDueForTrial({ cooldown, isSilent, inFlight }: KnownWorker, nowMs: number): boolean {
  return !isSilent && cooldown.coolUntilMs <= nowMs && inFlight === 0;
}

/** The silent last: a job that they do not answer is held up for half a minute. */
function soonestBack(one: KnownWorker, other: KnownWorker): number {
  if (one.isSilent !== other.isSilent) return one.isSilent ? 1 : -1;
  return one.cooldown.coolUntilMs < other.cooldown.coolUntilMs ? -1 : 1;
}

/**
 * Two at random, the better one taken: load spreads almost as well as with full knowledge, and
 * several API processes do not all run to the same worker.
 */
function betterOfTwo(workers: readonly KnownWorker[], choice: Choice): KnownWorker | undefined {
  const seen = workers.map((worker) => recentFirstTokenMs(worker, choice) ?? Infinity);
  const bestMs = Math.min(...seen);
  // The unobserved count as the best: so a newcomer is tried soon, and not buried in jobs.
  const assumedMs = Number.isFinite(bestMs) ? bestMs : 1;
  const expectedWait = (worker: KnownWorker): number =>
    // At least 1 ms, so that jobs in flight count at any speed.
    Math.max(1, recentFirstTokenMs(worker, choice) ?? assumedMs) *
    (worker.inFlight + worker.inFlightElsewhere + 1);

  const [one, other] = drawTwo(workers, choice.random);
  if (!one || !other) return one;
  return expectedWait(other) < expectedWait(one) ? other : one;
}

function drawTwo<Item>(items: readonly Item[], random: () => number): Item[] {
  const first = Math.floor(random() * items.length);
  const rest = items.toSpliced(first, 1);
  return [items[first], rest[Math.floor(random() * rest.length)]].filter(
    (item) => item !== undefined,
  );
}

function recentFirstTokenMs(
  { firstTokens }: KnownWorker,
  { modelAddress, nowMs }: Choice,
): number | undefined {
  const last = firstTokens.get(modelAddress);
  const isRecent = last && nowMs - last.observedAtMs <= FIRST_TOKEN_AGE_MAX_MS;
  return isRecent ? last.ms : undefined;
}
