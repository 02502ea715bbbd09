import type { RequestHandler } from 'express';
import type { Completions } from '../completion/completions.ts';
import { chatCompletionRequest } from '../contracts/chatCompletion.ts';
import { parseRequest } from '../contracts/parse.ts';
import { ApiError } from '../errors.ts';
import { authenticated } from '../middleware/authenticate.ts';

/** POST /v1/chat/completions: one request is one job. */
export function postChatCompletion(options: {
  completions: Completions;
  /** The Gateway account that wallets name as their spender. */
  gateway: string;
}): RequestHandler {
  const { completions, gateway } = options;
  return async (request, response) => {
    const key = authenticated(response);
    if (key.spender !== null && key.spender !== gateway) {
      throw new ApiError(
        'spender_not_set',
        `The wallet's spender is not this service. Set it to ${gateway} with spender_set.`,
      );
    }
    const body = parseRequest(chatCompletionRequest, request.body);
    await completions.complete({ key, request: body, response });
  };
}
