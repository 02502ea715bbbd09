import { createHmac, createSecretKey, hkdfSync } from 'node:crypto';
import { type ChatCompletionRequest, withCeiling } from '../contracts/chatCompletion.ts';
import type { completionRoutes } from '../contracts/completionAnswer.ts';
import { ApiError } from '../contracts/errors.ts';
import type { responsesRoutes } from '../contracts/responses.ts';
import { rawBodyOf } from '../http/middleware/requestBody.ts';
import type { RequestIdentity } from '../jobs/claim.ts';
import type { Completions } from '../jobs/completion.ts';
import { createChatFormat } from '../response/chatFormat.ts';
import type { AnswerFormat } from '../response/delivery.ts';
import { createResponsesFormat } from '../response/responsesFormat.ts';
import type { Call, Handlers } from './serveRoutes.ts';

export interface CompletionServices {
  completions: Completions;
  identify: IdentifyRequest;
}

/** A request of any format, as the chat completion that it is. */
type Asked = Pick<
  Call<(typeof responsesRoutes)['createResponse']>,
  'key' | 'request' | 'response'
> & {
  chat: ChatCompletionRequest;
  format: AnswerFormat;
};

/** One request is one job. The playground's run under the live key of its wallet. */
export function completionHandlers({
  completions,
  identify,
}: CompletionServices): Handlers<typeof completionRoutes & typeof responsesRoutes> {
  const complete = async ({ key: payer, request, response, chat, format }: Asked) => {
    const identity = identify({
      wallet: payer.wallet,
      apiKey: response.locals.secret,
      rawBody: rawBodyOf(request),
      idempotencyKey: request.get('idempotency-key'),
      retryCount: request.get('x-stainless-retry-count'),
    });
    const asked = withCeiling(chat, request.get('x-svc-max-credits'));
    await completions.complete({ payer, identity, request: asked, format, response });
  };
  return {
    createChatCompletion({ body: chat, ...call }) {
      const includeUsage = chat.stream_options?.include_usage ?? false;
      return complete({ ...call, chat, format: createChatFormat({ includeUsage }) });
    },
    async createResponse({ body: { chat, echo, leftOut }, ...call }) {
      const format = createResponsesFormat(echo);
      if (leftOut.length > 0) call.response.set('x-svc-left-out-tools', leftOut.join(', '));
      try {
        await complete({ ...call, chat, format });
      } catch (error) {
        throw error instanceof ApiError ? format.errorOf(error) : error;
      }
    },
  };
}

const DAY_SECONDS = 86_400;
/** Official clients retry silently within seconds, and never later than this. */
const SILENT_RETRY_SECONDS = 600;
const KEY_BYTES = 32;
const VISIBLE_KEY = /^[\x21-\x7e]{1,255}$/;
const RETRY_COUNT = /^[1-9]\d{0,2}$/;

/**
 * Identifies requests by their Idempotency-Key, and without one by their body: the official clients
 * retry without a key and only count (`x-stainless-retry-count`). Requests with one body may be
 * samples. So which of them a retry repeats depends on what became of their answers.
 *
 * @param secret keys the HMACs, so that a short body or key cannot be guessed from the database
 */
export function createRequestIdentification(secret: Uint8Array) {
  const keyBytes = hkdfSync('sha256', secret, '', 'idempotency', KEY_BYTES);
  // Bytes would be made a key for each HMAC, which takes five times as long as the HMAC.
  const hmacKey = createSecretKey(Buffer.from(keyBytes));
  const hmac = (purpose: string, bytes: string | Uint8Array): Buffer =>
    createHmac('sha256', hmacKey).update(`${purpose}\0`).update(bytes).digest();

  /** @throws ApiError when the Idempotency-Key is malformed */
  return (request: {
    wallet: string;
    apiKey: string;
    rawBody: Uint8Array;
    idempotencyKey: string | undefined;
    retryCount: string | undefined;
  }): RequestIdentity => {
    const { wallet, apiKey, rawBody, idempotencyKey, retryCount } = request;
    if (idempotencyKey !== undefined && !VISIBLE_KEY.test(idempotencyKey)) {
      throw new ApiError(
        'invalid_request',
        "Invalid value for 'Idempotency-Key': must have 1 to 255 visible characters.",
        { param: 'Idempotency-Key' },
      );
    }
    const hasKey = idempotencyKey !== undefined;
    const bodyHmac = hmac('body', rawBody);
    const own = idempotencyKey ?? bodyHmac.toString('base64');
    return {
      wallet,
      bodyHmac,
      requestKey: hasKey ? hmac('key', idempotencyKey) : bodyHmac,
      copyKey: () => hmac('answer copy', `${apiKey}\0${own}`),
      hasKey,
      mayRepeat: hasKey || RETRY_COUNT.test(retryCount ?? ''),
      lifetimeSeconds: hasKey ? DAY_SECONDS : SILENT_RETRY_SECONDS,
    };
  };
}

export type IdentifyRequest = ReturnType<typeof createRequestIdentification>;
