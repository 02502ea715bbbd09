import { z } from 'zod';
import { JOB_STATUSES } from '../../programs/client/vocabulary.ts';
import { jobId } from './values.ts';

const once = { error: 'must be given once' };

/** The query of GET /v1/jobs. A parameter given twice arrives as an array, and is refused. */
export const jobListQuery = z.object({
  limit: z
    .string(once)
    .regex(/^\d{1,3}$/, { error: 'must be an integer from 1 to 100' })
    .transform(Number)
    .pipe(z.int().min(1).max(100))
    .default(20)
    .describe('How many jobs to return.'),
  before: jobId.optional().describe('Jobs created before this job.'),
  after: jobId
    .optional()
    .describe(
      'Jobs created after this job. Our choice: the next newer ones, newest first; with `before`, ' +
        'the newest ones between the two.',
    ),
  status: z
    .enum(JOB_STATUSES, { error: 'must be a job status, given once' })
    .optional()
    .describe('Only jobs in this state.'),
  model: z
    .string(once)
    .optional()
    .describe('Only jobs of this model; of an unknown one there are none.'),
});

export type JobListQuery = z.infer<typeof jobListQuery>;
