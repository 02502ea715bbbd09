import type { RequestHandler } from 'express';
import type { Completions } from '../completion/completions.ts';
import { parseChatCompletion } from '../contracts/chatCompletion.ts';
import type { IdentifyRequest } from '../idempotency/identity.ts';
import { apiKeyOf, authenticated } from '../middleware/authenticate.ts';
import { rawBodyOf } from '../middleware/jsonBody.ts';

/** POST /v1/chat/completions: one request is one job. */
export function postChatCompletion(options: {
  completions: Completions;
  identify: IdentifyRequest;
}): RequestHandler {
  const { completions, identify } = options;
  return async (request, response) => {
    const payer = authenticated(response);
    const body = parseChatCompletion(request.body);
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
