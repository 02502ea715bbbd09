import { z } from 'zod';

export const jobStatuses = [
  'pending',
  'processing',
  'settling',
  'settled',
  'failed',
  'refunded',
  'disputed',
] as const;

const jobId = z.string().regex(/^job_[0-9a-f]{32}$/, { error: 'must be a job id' });

const once = { error: 'must be given once' };

/** The query of GET /v1/jobs. A parameter given twice arrives as an array, and is refused. */
export const jobListQuery = z.object({
  limit: z
    .string(once)
    .regex(/^\d{1,3}$/, { error: 'must be an integer from 1 to 100' })
    .transform(Number)
    .pipe(z.number().min(1).max(100))
    .default(20),
  before: jobId.optional(),
  after: jobId.optional(),
  status: z.enum(jobStatuses, { error: 'must be a job status, given once' }).optional(),
  model: z.string(once).max(256).optional(),
});

export type JobListQuery = z.infer<typeof jobListQuery>;
