import { z } from 'zod';

const TIMEOUT_MS = 5_000;

const healthBody = z.object({ error: z.object({ message: z.string() }).optional() });

/** Asks an endpoint whether its worker takes jobs. @returns `ready`, or why it does not */
export async function readHealth(endpoint: string): Promise<string> {
  const body = healthBody.safeParse(await readJson(`${endpoint}/health`));
  if (!body.success) return 'it does not answer';
  return body.data.error?.message ?? 'ready';
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
  return jobsReport.safeParse(await readJson(`http://127.0.0.1:${metricsPort}/jobs`)).data;
}

async function readJson(url: string): Promise<unknown> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return await response.json();
  } catch {
    // Every caller says that nothing answers.
    return undefined;
  }
}
