import type { RequestHandler } from 'express';
import { disputeRequest } from '../contracts/dispute.ts';
import { parseRequest } from '../contracts/parse.ts';
import { authenticated } from '../middleware/authenticate.ts';
import type { Disputes } from '../services/disputes.ts';

/** POST /v1/jobs/{job_id}/dispute: tells the ledger that another text arrived than was proven. */
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
