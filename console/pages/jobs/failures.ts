import type { ConsoleJob } from '../../../api/contracts/index.ts';

/** Why a job failed, in a sentence. */
export const FAILURES: Readonly<Record<NonNullable<ConsoleJob['failure_reason']>, string>> = {
  worker_error: 'No worker answered in full.',
  proof_missing: 'The answer came without a proof.',
  proof_invalid: "The proof was not the worker's, or not of this answer.",
  output_mismatch: 'The proof was of another text than the one delivered.',
  empty_output: 'The answer had no text.',
  client_gone: 'The client left before its answer began.',
  lock_late: 'The credits were locked after the request had been given up.',
  context_length_exceeded: "The messages did not fit the model's context window.",
  lease_lost: 'Its process fell silent while a worker answered, and a repeat ended the job.',
  orphaned: 'Its process fell silent before a worker had the job, and a repeat ended it.',
};
