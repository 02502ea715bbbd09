import { EVENT_KINDS, type EventKind } from '../../webhooks/eventKinds.ts';
import { eventExample } from './examples.ts';
import type { Operation, Parameter } from './openApi.ts';
import { eventSchemaName, refTo } from './schemas.ts';

const meanings: Record<EventKind, string> = {
  'job.submitted': 'A job was created and its credits are locked.',
  'job.processing':
    'A worker acknowledged the job. Our choice: again when another worker takes over.',
  'job.completed': 'The job settled on the ledger and the worker is paid.',
  'job.failed': 'The job failed before its completion; its credits are back.',
  'job.timeout': 'No worker completed the job within 120 s; its credits are back.',
  'job.disputed': 'A dispute was opened.',
  'credit.low':
    'The balance fell below the threshold, 100 credits. Our choice: judged ' +
    'on available and locked credits together, once for each crossing.',
  'credit.topup': 'Credits were added.',
  'worker.registered': 'A worker registered.',
  'worker.slashed': 'A worker lost stake for a fraudulent proof.',
};

const headers: Record<string, string> = {
  'Svc-Signature':
    '`t=<unix seconds>,v1=<hex>`: the HMAC-SHA256 of `<t>.<raw body>` under the secret of the webhook.',
  'Svc-Signature-Previous': 'Our choice: during a rotation, the same under the previous secret.',
  'Svc-Event-Id': 'Our choice: the id of the event.',
  'Svc-Delivery-Attempt': 'Our choice: from 1.',
  'webhook-id': 'Our choice: the id of the event, as Standard Webhooks names it.',
  'webhook-timestamp': 'Our choice: the time of this attempt, in Unix seconds.',
  'webhook-signature': 'Our choice: the signature of Standard Webhooks.',
};

const parameters = Object.entries(headers).map(
  ([name, description]): Parameter => ({
    ...{ name, in: 'header', required: name !== 'Svc-Signature-Previous', description },
    schema: { type: 'string' },
  }),
);

/** What is sent to webhooks, one operation per kind of event. */
export function describeEvents(): Record<string, { post: Operation }> {
  return Object.fromEntries(EVENT_KINDS.map((kind) => [kind, { post: describeEvent(kind) }]));
}

function describeEvent(kind: EventKind): Operation {
  const schema = refTo(eventSchemaName(kind));
  return {
    operationId: `on${eventSchemaName(kind)}`,
    tags: ['Events'],
    summary: kind,
    description: meanings[kind],
    // Deliveries are signed, they carry no key.
    security: [],
    parameters,
    requestBody: {
      required: true,
      content: { 'application/json': { schema, example: eventExample(kind) } },
    },
    responses: {
      '2XX': { description: 'Delivered, if it is answered within 10 seconds.' },
      default: {
        description:
          'Failed: tried again 30 s, 5 min, 30 min and 2 h after the end of the attempt before.',
      },
    },
  };
}
