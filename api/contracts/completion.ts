import { chatCompletionRequest } from './chatCompletion.ts';
import { chatCompletion } from './completionAnswer.ts';
import { route } from './route.ts';
import { lockHeaders } from './values.ts';

export const completionRoutes = {
  createChatCompletion: route('POST', '/chat/completions', ['key', 'session'], {
    needsSpender: true,
    summary: "a chat completion, under the wallet's live key",
    body: chatCompletionRequest,
    answer: chatCompletion,
    form: 'chat completion',
    docs: {
      tag: 'Completions',
      summary: 'Ask a model',
      description: [
        'Each request becomes a job: its credits are locked on the ledger, a worker answers, and on ' +
          'settlement the worker is paid and what was not used comes back.',
        'With `stream: true` the answer is a sequence of events `data: <chunk>`, and `data: [DONE]` ' +
          'ends it.',
        'Our choice: nothing is sent before the first content or reasoning, so that failures until then have ' +
          'their real status. Afterwards a failure is one event with an error body, and the stream ' +
          'ends without `[DONE]`. `[DONE]` says that the signed proof of the worker was checked ' +
          'against the delivered text. The stream stays open up to 3 s more for the settlement, ' +
          'which arrives in trailers; clients that cannot read trailers use GET /v1/jobs/{job_id}. ' +
          'Comments keep a silent stream alive.',
        'Our choice: `svc` says what the answer cost, what proves it, and where a browser checks it: ' +
          'in the body of a plain answer, and in the chunk with the finish reason of a stream.',
        'Our choice: fields of the format that are not listed here are ignored.',
      ].join('\n\n'),
      requestHeaders: {
        'Idempotency-Key':
          'Our choice: 1 to 255 visible characters. The same key with the same body within 24 hours ' +
          'is never charged twice: for ten minutes the same answer comes again.',
        'x-svc-max-credits':
          'Our choice: the most credits that the request may lock, as `max_credits` in the body. ' +
          'Above it the answer is 422 `price_above_limit`, and nothing is locked.',
      },
      headers: [
        ...lockHeaders,
        'x-svc-settlement-tx',
        'x-svc-worker',
        'x-svc-credits-remaining',
        'x-svc-output-hash',
        'x-svc-delivery-receipt',
        'x-svc-engine',
        'x-svc-truncated',
        'x-svc-replayed',
        'server-timing',
      ],
      errors: [
        'model_not_found',
        'context_length_exceeded',
        'insufficient_credits',
        'spending_limit_exceeded',
        'spender_not_set',
        'idempotency_key_in_use',
        'idempotency_key_reused',
        'idempotency_key_mismatch',
        'price_above_limit',
        'worker_failed',
        'no_workers_available',
        'job_timeout',
      ],
    },
  }),
};
