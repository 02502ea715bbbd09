import type { RequestHandler } from 'express';
import type { Database } from '../../runtime/postgres.ts';
import { jobListQuery } from '../contracts/jobList.ts';
import { parseRequest } from '../contracts/parse.ts';
import { jobView } from '../contracts/views.ts';
import { ApiError } from '../errors.ts';
import type { UnmirroredJobs } from '../ledger/unmirroredJobs.ts';
import { authenticated } from '../middleware/authenticate.ts';
import { type JobListServices, listJobs } from '../services/jobList.ts';
import { selectJob } from '../statements/jobs.ts';

/** GET /v1/jobs: the wallet's jobs, newest first. */
export function getJobs(services: JobListServices): RequestHandler {
  return async (request, response) => {
    const { wallet } = authenticated(response);
    response.json(await listJobs(services, wallet, parseRequest(jobListQuery, request.query)));
  };
}

/** GET /v1/jobs/{job_id}: from the mirror, or from the ledger while the mirror lacks the job. */
export function getJob(options: {
  database: Database;
  unmirrored: UnmirroredJobs;
}): RequestHandler<{ job_id: string }> {
  const { database, unmirrored } = options;
  return async (request, response) => {
    const { wallet } = authenticated(response);
    const key = { wallet, jobId: request.params.job_id };
    const job = (await selectJob(database, key)) ?? (await unmirrored.find(key));
    if (!job) throw new ApiError('job_not_found', 'The wallet of this key has no such job.');
    response.json(jobView(job));
  };
}
