import { DISPUTE_OUTCOMES, type JobStatus, word } from '../../vocabulary.ts';
import type { JobEvent, JobEventName } from './record.ts';

const RUNNING: readonly JobStatus[] = ['pending', 'processing', 'settling'];

/** In which states each thing can happen to a job: the table of ARCHITECTURE.md. */
const POSSIBLE_IN: Readonly<Record<Exclude<JobEventName, 'JobLocked'>, readonly JobStatus[]>> = {
  JobAcknowledged: ['pending', 'processing'],
  JobProven: ['processing'],
  JobSettled: ['settling'],
  JobFailed: RUNNING,
  JobRefunded: RUNNING,
  JobDisputed: ['settled'],
  DisputeResolved: ['disputed'],
  DisputeExpired: ['disputed'],
  JobClosed: ['settled', 'failed', 'refunded'],
};

/** @param status undefined before the lock */
export function isPossible(name: JobEventName, status: JobStatus | undefined): boolean {
  if (name === 'JobLocked') return status === undefined;
  return status !== undefined && POSSIBLE_IN[name].includes(status);
}

/**
 * The state after an event; a closed job keeps its last one.
 *
 * @param status the state before it
 */
export function statusAfter(event: JobEvent, status: JobStatus = 'pending'): JobStatus {
  switch (event.name) {
    case 'JobLocked':
      return 'pending';
    case 'JobAcknowledged':
      return 'processing';
    case 'JobProven':
      return 'settling';
    case 'JobSettled':
    case 'DisputeExpired':
      return 'settled';
    case 'JobFailed':
      return 'failed';
    case 'JobRefunded':
      return 'refunded';
    case 'JobDisputed':
      return 'disputed';
    case 'DisputeResolved':
      return word(DISPUTE_OUTCOMES, event.data.verdict) === 'rejected' ? 'settled' : 'refunded';
    case 'JobClosed':
      return status;
  }
}

/** The state that a job's events, in their order, leave behind. */
export function statusOf(events: readonly JobEvent[]): JobStatus {
  let status: JobStatus | undefined;
  for (const event of events) status = statusAfter(event, status);
  return status ?? 'pending';
}
