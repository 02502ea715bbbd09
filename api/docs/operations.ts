import { describePriceSteps } from '../../common/priceSteps.ts';
import type { ErrorCode } from '../contracts/errorTable.ts';
import { lockHeaders, type ResponseHeader } from '../contracts/values.ts';
import { examples } from './examples.ts';
import type { Method } from './openApi.ts';
import type { SchemaName } from './schemas.ts';

/** One endpoint as the documentation describes it; its schemas are described by themselves. */
export interface EndpointDescription {
  method: Method;
  path: `/v1/${string}`;
  id: string;
  tag: 'Completions' | 'Models' | 'Jobs' | 'Account' | 'Webhooks';
  summary: string;
  description: string;
  /** What the parts of the path name. */
  pathParameters?: Record<string, string>;
  hasQuery?: true;
  requestHeaders?: Record<string, string>;
  request?: SchemaName;
  response: SchemaName;
  streams?: true;
  headers?: readonly ResponseHeader[];
  /** Beyond those that every endpoint has. */
  errors: readonly ErrorCode[];
}

export const commonErrors: readonly ErrorCode[] = [
  'invalid_request',
  'missing_api_key',
  'invalid_api_key',
  'key_suspended',
  'rate_limit_exceeded',
  'internal_error',
  'service_unavailable',
];

const jobParameter = { job_id: 'The id of a job of the wallet of this key.' };

export const endpoints: readonly EndpointDescription[] = [
  {
    method: 'post',
    path: '/v1/chat/completions',
    id: 'createChatCompletion',
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
    request: 'ChatCompletionRequest',
    response: 'ChatCompletion',
    streams: true,
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
  {
    method: 'get',
    path: '/v1/models',
    id: 'listModels',
    tag: 'Models',
    summary: 'List the models',
    description: [
      'The models that at least one worker hosts, with their prices.',
      // Of the price that the example has.
      ...describePriceSteps([examples.Model.svc]),
    ].join(' '),
    response: 'ModelList',
    errors: [],
  },
  {
    method: 'get',
    path: '/v1/models/{model_id}',
    id: 'getModel',
    tag: 'Models',
    summary: 'Show a model',
    description:
      'Our choice: a model without workers is shown too, with `active_workers` 0. An unknown one ' +
      'is a 404 here.',
    pathParameters: { model_id: 'The id of a model.' },
    response: 'Model',
    errors: ['model_not_found'],
  },
  {
    method: 'get',
    path: '/v1/jobs',
    id: 'listJobs',
    tag: 'Jobs',
    summary: 'List jobs',
    description:
      'The jobs of the wallet. Our choice: always newest first. `before` goes on to older ones; ' +
      '`after` alone gives the next newer ones. With both, what lies between is listed from its ' +
      'newest on. `next_cursor` is for `after` where that was given alone, else for `before`. A ' +
      'cursor that names no job of the wallet is a 400; an unknown model gives an empty list.',
    hasQuery: true,
    response: 'JobList',
    errors: [],
  },
  {
    method: 'get',
    path: '/v1/jobs/{job_id}',
    id: 'getJob',
    tag: 'Jobs',
    summary: 'Show a job',
    description: 'A job with its ledger record, which anybody can check without this API.',
    pathParameters: jobParameter,
    response: 'Job',
    errors: ['job_not_found'],
  },
  {
    method: 'post',
    path: '/v1/jobs/{job_id}/dispute',
    id: 'disputeJob',
    tag: 'Jobs',
    summary: 'Dispute a job',
    description: [
      'Compares the hash of what you received with the one that the worker signed. If they differ, ' +
        'the job becomes `disputed` on the ledger, to be decided within the arbitration window. ' +
        'If they are equal, nothing changes.',
      "Our choice: the 60 seconds count from the settlement, by the ledger's clock. A job that is " +
        'still settling is waited for, up to 10 s. A job can be disputed once.',
    ].join('\n\n'),
    pathParameters: jobParameter,
    request: 'DisputeRequest',
    response: 'DisputeAnswer',
    errors: [
      'spender_not_set',
      'job_not_found',
      'dispute_already_open',
      'job_not_settled',
      'dispute_window_expired',
      'dispute_limit_reached',
    ],
  },
  {
    method: 'get',
    path: '/v1/account',
    id: 'getAccount',
    tag: 'Account',
    summary: 'Show the balance',
    description: 'The credits of the wallet that the key belongs to.',
    response: 'Account',
    errors: [],
  },
  {
    method: 'post',
    path: '/v1/webhooks',
    id: 'createWebhook',
    tag: 'Webhooks',
    summary: 'Create a webhook',
    description:
      'Sends the chosen events to an endpoint of yours. Our choice: `url` and `events` are ' +
      'required; a wallet has at most 20, and has to have a credit account on the ledger.',
    request: 'WebhookRequest',
    response: 'CreatedWebhook',
    errors: ['account_required', 'duplicate_webhook'],
  },
  {
    method: 'get',
    path: '/v1/webhooks',
    id: 'listWebhooks',
    tag: 'Webhooks',
    summary: 'List webhooks',
    description: 'Our choice of form: a list object. No secret is in it.',
    response: 'WebhookList',
    errors: [],
  },
  {
    method: 'delete',
    path: '/v1/webhooks/{webhook_id}',
    id: 'deleteWebhook',
    tag: 'Webhooks',
    summary: 'Delete a webhook',
    description: 'Our choice of form: the answer says what was deleted.',
    pathParameters: { webhook_id: 'The id of a webhook of the wallet.' },
    response: 'DeletedWebhook',
    errors: ['webhook_not_found'],
  },
];
