import type { RequestHandler } from 'express';
import type { Database } from '../../../common/postgres.ts';
import { withCeiling } from '../../contracts/chatCompletion.ts';
import { ApiError } from '../../contracts/errors.ts';
import { disputeRequest, jobListQuery } from '../../contracts/job.ts';
import { parseRequest } from '../../contracts/values.ts';
import { jobView } from '../../contracts/views.ts';
import type { Completions } from '../../jobs/completion.ts';
import type { Disputes } from '../../jobs/dispute.ts';
import { type JobListServices, listJobs } from '../../jobs/jobList.ts';
import type { IdentifyRequest } from '../../jobs/requestIdentity.ts';
import type { UnmirroredJobs } from '../../ledger/jobLookup.ts';
import { selectJob } from '../../sql/jobs.ts';
import { apiKeyOf, authenticated } from '../middleware/authentication.ts';
import { completionOf, rawBodyOf } from '../middleware/requestBody.ts';

/** POST /v1/chat/completions: one request is one job. */
export function postChatCompletion(options: {
  completions: Completions;
  identify: IdentifyRequest;
}): RequestHandler {
  const { completions, identify } = options;
  return async (request, response) => {
    const payer = authenticated(response);
    const body = withCeiling(completionOf(request), request.get('x-svc-max-credits'));
    const identity = identify({
      wallet: payer.wallet,
      apiKey: apiKeyOf(response),
      rawBody: rawBodyOf(request),
      idempotencyKey: request.get('idempotency-key'),
      retryCount: request.get('x-stainless-retry-count'),
    });
    await completions.complete({ payer, identity, request: body, response });
  };
}

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

/** POST /v1/jobs/{job_id}/dispute: states on the ledger that another text arrived than was proven. */
export function postDispute({
  disputes,
}: {
  disputes: Disputes;
}): RequestHandler<{ job_id: string }> {
  return async (request, response) => {
    const { wallet } = authenticated(response);
    const { received_output_hash: clientHash } = parseRequest(disputeRequest, request.body);
    response.json(await disputes.open({ wallet, jobId: request.params.job_id, clientHash }));
  };
}
