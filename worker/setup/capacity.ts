import type { Engine } from '../engine/engine.ts';

/** One step of a measurement: so many answers at a time. */
interface CapacityStep {
  readonly jobs: number;
  /** Deltas with text, of all answers together. */
  readonly textsPerSecond: number;
  /** Of the slowest answer. */
  readonly firstTextSeconds: number;
  /** Whether the upstream refused some. */
  readonly isRefused: boolean;
}

const JOBS_MAX = 64;
const ANSWER_TOKENS = 24;
/** Gateways prefer workers that begin soon. */
const FIRST_TEXT_SECONDS_MAX = 5;
/** Below this growth the answers only wait for each other. */
const GROWTH_MIN = 1.15;
const STEP_TIMEOUT_MS = 60_000;

/**
 * Doubles the number of answers at a time for as long as the upstream writes more in all.
 *
 * @param report gets each step
 * @param nowMs a clock in milliseconds
 * @returns the capacity: jobs at the same time, at least 1
 */
export async function measureCapacity(
  engine: Engine,
  model: string,
  report: (step: CapacityStep) => void,
  nowMs: () => number = () => performance.now(),
): Promise<number> {
  let capacity = 1;
  let bestPerSecond = 0;
  for (let jobs = 1; jobs <= JOBS_MAX; jobs *= 2) {
    const step = await measureStep(engine, model, { jobs, nowMs });
    report(step);
    const isSlow = step.firstTextSeconds > FIRST_TEXT_SECONDS_MAX;
    const isSaturated = step.textsPerSecond < bestPerSecond * GROWTH_MIN;
    if (step.isRefused || isSlow || isSaturated) break;
    capacity = jobs;
    bestPerSecond = step.textsPerSecond;
  }
  return capacity;
}

async function measureStep(
  engine: Engine,
  model: string,
  { jobs, nowMs }: { jobs: number; nowMs: () => number },
): Promise<CapacityStep> {
  const begunMs = nowMs();
  const secondsSoFar = (): number => (nowMs() - begunMs) / 1_000;
  let texts = 0;
  let firstTextSeconds = 0;

  async function answer(index: number): Promise<void> {
    const signal = AbortSignal.timeout(STEP_TIMEOUT_MS);
    // Different texts, so that no cache answers for the model.
    const content = `Write about the number ${index}.`;
    const chat = { model, messages: [{ role: 'user' as const, content }] };
    let isFirst = true;
    for await (const { type } of engine.generate(chat, { tokenLimit: ANSWER_TOKENS, signal })) {
      if (type !== 'text' && type !== 'reasoning') continue;
      texts += 1;
      if (isFirst) firstTextSeconds = Math.max(firstTextSeconds, secondsSoFar());
      isFirst = false;
    }
  }

  const ends = await Promise.allSettled(Array.from({ length: jobs }, (_, index) => answer(index)));
  return {
    jobs,
    textsPerSecond: texts / secondsSoFar(),
    firstTextSeconds,
    isRefused: ends.some(({ status }) => status === 'rejected'),
  };
}
