// Made from webhooks/kinds.ts by npm run generate: do not edit.

import type { EventKind } from './events.ts';

/** What has happened when an event of a kind is sent. */
export const KIND_LABELS: Readonly<Record<EventKind, string>> = {
  'job.submitted': "A job was created and its credits are locked.",
  'job.processing': "A worker acknowledged the job.",
  'job.completed': "The job settled on the ledger and the worker is paid.",
  'job.failed': "The job failed before its completion; its credits are back.",
  'job.timeout': "No worker completed the job within 120 s; its credits are back.",
  'job.disputed': "A dispute was opened.",
  'job.dispute_resolved': "A dispute was upheld or rejected, or expired without a verdict.",
  'credit.low': "The balance fell below the threshold, 100 credits unless you set another.",
  'credit.topup': "Credits were added.",
  'worker.registered': "A worker registered.",
  'worker.slashed': "A worker lost stake for a fraudulent proof.",
};
