import { withCeiling } from '../contracts/chatCompletion.ts';
import type { completionRoutes } from '../contracts/completion.ts';
import { secretOf } from '../http/middleware/authentication.ts';
import { rawBodyOf } from '../http/middleware/requestBody.ts';
import type { Completions } from '../jobs/completion.ts';
import type { IdentifyRequest } from '../jobs/requestIdentity.ts';
import type { Handlers } from './serveRoutes.ts';

interface CompletionServices {
  completions: Completions;
  identify: IdentifyRequest;
}

/** One request is one job. The playground's run under the live key of its wallet. */
export function completionHandlers({
  completions,
  identify,
}: CompletionServices): Handlers<typeof completionRoutes> {
  return {
    async createChatCompletion({ key: payer, body, request, response }) {
      const identity = identify({
        wallet: payer.wallet,
        apiKey: secretOf(response),
        rawBody: rawBodyOf(request),
        idempotencyKey: request.get('idempotency-key'),
        retryCount: request.get('x-stainless-retry-count'),
      });
      const asked = withCeiling(body, request.get('x-svc-max-credits'));
      await completions.complete({ payer, identity, request: asked, response });
    },
  };
}
