import { z } from 'zod';
import { delay, systemTime, type Time } from '../../common/wait.ts';
import { readHealth } from '../../worker/setup/processReports.ts';
import { SetupError } from '../../worker/setup/setupError.ts';
import { listUpstreamModels } from '../../worker/setup/upstreamModels.ts';

/** Enough to load a small model, or to start a forgotten upstream. */
const WAIT_MS = 30_000;
const POLL_MS = 500;
const ANSWER_TIMEOUT_MS = 5_000;

/**
 * Says how to try the service, once it has a worker that takes jobs. Until then it says why there is
 * none. After 30 s the start goes on without one, and how to try it follows later.
 *
 * @param options.apiUrl whose workers count
 * @param options.explain why no worker takes jobs, in sentences
 * @param options.report takes the line about the wait
 * @param options.write takes the last lines of a start
 * @param options.ending ends the wait, without a word
 */
export async function announce(options: {
  apiUrl: string;
  explain: () => Promise<string>;
  report: (detail: string) => void;
  write: (lines: string) => void;
  /** The lines of a start that has a worker, and of one that has none for a reason. */
  lines: { running: string; waiting: (reason: string) => string };
  ending: AbortSignal;
  time?: Time;
}): Promise<void> {
  const { apiUrl, explain, report, write, lines, ending, time = systemTime } = options;

  /** @returns whether there are workers now */
  async function untilWorkers(untilMs: number): Promise<boolean> {
    while (!(await hasWorkers(apiUrl))) {
      if (ending.aborted || time.nowMs() >= untilMs) return false;
      await delay(POLL_MS, ending, time);
    }
    return !ending.aborted;
  }

  const startedMs = time.nowMs();
  if (await hasWorkers(apiUrl)) return write(lines.running);
  report(`up to ${WAIT_MS / 1_000} s for a worker. ${await explain()}`);
  if (await untilWorkers(startedMs + WAIT_MS)) return write(lines.running);
  if (ending.aborted) return;
  write(lines.waiting(await explain()));
  void untilWorkers(Infinity).then((hasSome) => hasSome && write(lines.running));
}

const readiness = z.object({ parts: z.object({ workers: z.enum(['ok', 'away']) }) });

/** Whether the API has a worker that it would give a job to. */
async function hasWorkers(apiUrl: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const answer = await fetch(`${apiUrl}/ready`, { signal });
    return readiness.parse(await answer.json()).parts.workers === 'ok';
  } catch {
    // It may be starting again.
    return false;
  }
}

/**
 * Why no worker takes jobs: the fault of their upstream, as `svc worker init` reports it, or the reason
 * that the first worker gives.
 *
 * @param from.upstreamUrl undefined for the built-in engine
 */
export async function describeUnready(from: {
  workerUrls: readonly string[];
  upstreamUrl: string | undefined;
  upstreamKey: string | undefined;
}): Promise<string> {
  const { workerUrls, upstreamUrl, upstreamKey } = from;
  try {
    const names = upstreamUrl && (await listUpstreamModels(upstreamUrl, upstreamKey));
    const reasons = await Promise.all(workerUrls.map(readHealth));
    const reason = reasons.find((one) => one !== 'ready');
    if (reason === undefined) return 'The API asks each every 5 s.';
    if (!names) return `${reason}.`;
    const hint = 'WORKER_UPSTREAM_MODEL or WORKER_MODELS names them';
    return `${reason}. It serves ${names.join(', ')} (${hint}).`;
  } catch (error) {
    if (error instanceof SetupError) return error.message;
    throw error;
  }
}
