/** Everything that a webhook can subscribe to. */
export const EVENT_KINDS = [
  'job.submitted',
  'job.processing',
  'job.completed',
  'job.failed',
  'job.timeout',
  'job.disputed',
  'credit.low',
  'credit.topup',
  'worker.registered',
  'worker.slashed',
] as const;

export type EventKind = (typeof EVENT_KINDS)[number];
