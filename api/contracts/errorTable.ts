export interface ErrorEntry {
  status: number;
  /** Where it is not the type that most errors of its status have. */
  type?: string;
  /** Markdown for the documentation. */
  meaning: string;
  details?: readonly string[];
  /** Whether each of these errors has all of its details. */
  hasAllDetails?: true;
  hasRetryAfter?: true;
  /** Sent as `x-should-retry: false`: repeating silently would only cost the client time. */
  shouldRetry?: false;
}

/** What /v1 answers with. */
const apiErrors = {
  invalid_request: {
    status: 400,
    meaning:
      'The request is malformed or a field has an invalid value; `param` names the field. Where the ' +
      "model's server refuses it, `details` names the job, whose credits are back. Of one webhook " +
      'too many, `details.limit` is how many a wallet may have. Of a body that is too large, ' +
      '`details` has the bound.',
    details: [
      'limit',
      'max_bytes',
      'max_depth',
      'max_values',
      'max_messages',
      'max_tools',
      'max_tool_calls',
      'max_schema_bytes',
      'max_parts',
      'job_id',
      'credits_refunded',
      'refund_tx',
    ],
  },
  model_not_found: {
    status: 400,
    meaning:
      'No model has this id; the message names the nearest. GET /v1/models lists the models that can ' +
      'be used. For the id in the path of GET /v1/models/{model_id}, the status is 404 and the type ' +
      '`not_found_error`.',
  },
  context_length_exceeded: {
    status: 400,
    meaning:
      "The messages leave no room for an answer in the model's context window. With the model's " +
      'tokenizer the service counts their text exactly. Without it, it takes a bound: a token for ' +
      'every eight bytes, or for every word and every three digits, if these are more. Where ' +
      'either is too much, nothing is locked, and ' +
      '`prompt_tokens_at_least` is that number. What passes the bound and is too long all the same ' +
      'is refused by its worker. Then the job failed, and its credits are back.',
    details: [
      'context_window',
      'prompt_tokens_at_least',
      'job_id',
      'credits_refunded',
      'refund_tx',
    ],
  },
  missing_api_key: {
    status: 401,
    meaning: 'The request carries no `Authorization` header.',
  },
  invalid_api_key: {
    status: 401,
    meaning:
      'The key does not exist or was revoked, or the `Authorization` header holds something else than `Bearer <API_KEY>`.',
  },
  insufficient_credits: {
    status: 402,
    meaning:
      'The available balance is below what the request has to lock. A body above 16 KiB is not read ' +
      'for a wallet that has less than the cheapest request locks. ' +
      '`details.affordable_max_tokens` is the largest `max_tokens` the balance covers, 0 if none.',
    details: ['credits_remaining', 'credits_required', 'tier', 'affordable_max_tokens'],
  },
  key_suspended: {
    status: 403,
    meaning:
      'The key is suspended for a policy violation or an abuse flag. The suspension is its ' +
      "wallet's: the wallet gets no other key until the operator reinstates it.",
  },
  spending_limit_exceeded: {
    status: 403,
    meaning:
      'The wallet limits what this service may lock per job and per day, and this is above it: ' +
      '`credits_required` against the `limit`. For a day, `left` is what it still allows until ' +
      '`resets_at`, the next midnight UTC. A day counts what its locks were charged and what of ' +
      'them is locked now. `affordable_max_tokens` is the largest `max_tokens` that would fit.',
    details: ['limit', 'left', 'resets_at', 'credits_required', 'affordable_max_tokens'],
  },
  spender_not_set: {
    status: 403,
    meaning: 'The wallet has not made this service a spender of its credit account.',
  },
  account_required: {
    status: 403,
    meaning:
      'Webhooks are for wallets with a credit account on the ledger, and this one has none yet. The ' +
      'first purchase opens it, and counts here within seconds.',
  },
  job_not_found: {
    status: 404,
    meaning: 'The wallet of this key has no such job.',
  },
  webhook_not_found: {
    status: 404,
    meaning: 'The wallet of this key has no such webhook.',
  },
  route_not_found: {
    status: 404,
    meaning:
      'This path, or this method on it, does not exist. The message names the nearest address, for ' +
      'a base URL that lacks `/v1` or has it twice, and for the paths of other formats.',
    shouldRetry: false,
  },
  duplicate_webhook: {
    status: 409,
    meaning:
      'A webhook with the same `url` and `events` exists: `details.webhook_id`. Delete it first ' +
      'to set another secret.',
    details: ['webhook_id'],
    shouldRetry: false,
  },
  idempotency_key_in_use: {
    status: 409,
    meaning:
      'The same request is still being answered, or one with the body of a retry without a key; ' +
      'wait for `Retry-After` seconds.',
    details: ['job_id'],
    hasRetryAfter: true,
  },
  idempotency_key_reused: {
    status: 409,
    meaning:
      'The same request was answered and charged before, more than ten minutes ago or with ' +
      'another API key; GET /v1/jobs/{id} shows its job. Use a new key for a new request.',
    details: ['job_id'],
    shouldRetry: false,
  },
  dispute_already_open: {
    status: 409,
    meaning: 'The job has been disputed before; GET /v1/jobs/{id} shows how the dispute stands.',
    details: ['job_id'],
    shouldRetry: false,
  },
  dispute_window_expired: {
    status: 422,
    meaning: "A job can be disputed for 60 seconds after its settlement, by the ledger's clock.",
    details: ['job_id', 'dispute_window_ends_at'],
  },
  idempotency_key_mismatch: {
    status: 422,
    meaning: 'The Idempotency-Key was used with another body in the last 24 hours.',
    details: ['job_id'],
  },
  job_not_settled: {
    status: 422,
    meaning: 'Only a settled job can be disputed: for any other, nothing was charged.',
    details: ['job_id', 'status'],
  },
  dispute_limit_reached: {
    status: 422,
    meaning:
      'The wallet has as many open disputes as this service may open for it at a time. The ' +
      "wallet's own signature may open as many again (`svc send job_dispute`, from /packages/). The " +
      'limit bounds what one wallet makes the arbiter judge and the treasury keep back. Of ' +
      '`details`, `next_ends_at` is when the next of them ends, judged or not.',
    details: ['job_id', 'limit', 'open', 'next_ends_at'],
  },
  price_above_limit: {
    status: 422,
    meaning:
      'The request would lock `credits_required`, which is more than its own `max_credits`. Nothing ' +
      'is locked. Raise the ceiling, or send at most `affordable_max_tokens` as `max_tokens`.',
    details: ['credits_required', 'max_credits', 'affordable_max_tokens'],
  },
  rate_limit_exceeded: {
    status: 429,
    meaning:
      'Too many requests from one address in a short time, large ones of one wallet or address at ' +
      'once, open streams, or tests and replays of webhooks by one wallet or to one host; wait for ' +
      '`Retry-After` seconds. `details.limit_of` says whose `limit` it was: `address`, `wallet`, ' +
      '`host`, or `webhook` for the tests that wait for its receiver.',
    details: ['limit', 'limit_of'],
    hasAllDetails: true,
    hasRetryAfter: true,
  },
  internal_error: {
    status: 500,
    meaning: 'An error on our side. Nothing is charged for a job that did not settle.',
  },
  worker_failed: {
    status: 500,
    meaning:
      'No worker produced a proven answer, and nothing is charged. `refund_tx` is null where the ' +
      'ledger had not confirmed in time that the credits are back. Safe to retry.',
    details: ['job_id', 'credits_refunded', 'refund_tx'],
  },
  no_workers_available: {
    status: 503,
    type: 'capacity_error',
    meaning:
      'No worker can take the request now, and nothing is charged; wait `details.retry_after` s. ' +
      '`job_id` is there where credits had been locked.',
    details: ['model', 'retry_after', 'job_id'],
    hasRetryAfter: true,
  },
  service_unavailable: {
    status: 503,
    meaning: 'The ledger or the database cannot be reached, or locks are paused. Safe to retry.',
    hasRetryAfter: true,
  },
  job_timeout: {
    status: 504,
    meaning: 'No worker finished within 120 seconds; the credits are back. Safe to repeat.',
    details: ['job_id', 'credits_refunded', 'refund_tx'],
  },
} as const satisfies Record<string, ErrorEntry>;

/** What only the web app's API answers with. */
const consoleErrors = {
  session_required: {
    status: 401,
    meaning: 'There is no session, or it has ended.',
  },
  sign_in_refused: {
    status: 401,
    meaning:
      'What was signed is not the text to sign, is not signed by this wallet, is older than five ' +
      'minutes, or was used before.',
  },
  fresh_sign_in_required: {
    status: 403,
    meaning: 'Keys, secrets and webhook endpoints take a sign-in less than 15 minutes old.',
  },
  origin_refused: {
    status: 403,
    meaning: "Only the service's own pages may change something, with JSON.",
  },
  not_permitted: {
    status: 403,
    meaning: 'The wallet that signed in is no operator or arbiter of the service.',
  },
  key_exists: {
    status: 409,
    meaning: 'The wallet has a live key already, and a wallet has one.',
    shouldRetry: false,
  },
  key_replaced: {
    status: 409,
    meaning:
      'The key was replaced after this request had come: it is shown in the answer to another one.',
    shouldRetry: false,
  },
  key_not_found: {
    status: 404,
    meaning: 'The wallet has no key, or no suspension, that the change could be made to.',
  },
  webhook_disabled: {
    status: 409,
    meaning: 'The webhook is disabled, so nothing is sent to it. Enable it first.',
    shouldRetry: false,
  },
  worker_not_found: {
    status: 404,
    meaning: 'No worker is registered at this address.',
  },
  session_not_found: {
    status: 404,
    meaning: 'The wallet has no such session.',
  },
} as const satisfies Record<string, ErrorEntry>;

/**
 * Every error code a client can receive: its HTTP status, and what its documentation says. The one
 * statement of the table; the renderer, the documentation page and the tests read it.
 */
export const errorTable = { ...apiErrors, ...consoleErrors };

export type ErrorCode = keyof typeof errorTable;

/** The codes that /v1 answers with. */
export const apiErrorCodes = Object.keys(apiErrors) as ErrorCode[];

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'payment_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  422: 'unprocessable_error',
  429: 'rate_limit_error',
  500: 'server_error',
  503: 'server_error',
  504: 'timeout_error',
};

export function errorTypeOf(code: ErrorCode): string {
  const { status, type = TYPES[status] as string }: ErrorEntry = errorTable[code];
  return type;
}

export const errorTypes = [...new Set((Object.keys(errorTable) as ErrorCode[]).map(errorTypeOf))];
