import { z } from 'zod';
import { describeConnectionFault } from '../../common/net/connectionFault.ts';

const TIMEOUT_MS = 5_000;

const healthBody = z.object({ error: z.object({ message: z.string() }).optional() });

/** Asks an endpoint whether its worker takes jobs. @returns `ready`, or why it does not */
export async function readHealth(endpoint: string): Promise<string> {
  try {
    const body = healthBody.safeParse(await readJson(`${endpoint}/health`));
    if (!body.success) return 'something else than a worker answers';
    return body.data.error?.message ?? 'ready';
  } catch (error) {
    return `it does not answer: ${describeConnectionFault(error)}`;
  }
}

const failure = z.object({
  at: z.string(),
  job_id: z.string(),
  model: z.string(),
  code: z.string(),
});

/** A job without a proof. */
export type Failure = z.infer<typeof failure>;

const jobsReport = z.object({
  in_flight: z.number(),
  slots: z.number(),
  failures: z.array(failure),
});

/** What the worker's process on this machine reports to its owner; undefined where none answers. */
export async function readJobsReport(
  metricsPort: string | undefined,
): Promise<z.infer<typeof jobsReport> | undefined> {
  // Its absence is all that a caller has to know.
  const report = await readJson(`http://127.0.0.1:${metricsPort}/jobs`).catch(() => undefined);
  return jobsReport.safeParse(report).data;
}

/** @throws what `fetch` throws where nothing answers, and SyntaxError for what is no JSON */
async function readJson(url: string): Promise<unknown> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  return response.json();
}
