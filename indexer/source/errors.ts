import { reasonOf } from '../../common/reasonOf.ts';
import { isPassing } from '../../common/transientErrors.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/sendResult.ts';

/** The cause lies outside and may pass: the same may be tried again after a while. */
export class RetryableError extends Error {
  override name = 'RetryableError';
}

/** A node has not reached the slot that is asked about. It soon will, or another one has. */
export class NodeBehindError extends RetryableError {
  override name = 'NodeBehindError';
}

/** Trying again would fail again: the process ends, and somebody has to look. */
export class FatalError extends Error {
  override name = 'FatalError';
}

/** The one place that decides whether an error is retried or fatal. */
export function classify(error: unknown): RetryableError | FatalError {
  if (error instanceof RetryableError || error instanceof FatalError) return error;
  const message = reasonOf(error);
  return error instanceof LedgerUnavailableError || isPassing(error)
    ? new RetryableError(message, { cause: error })
    : new FatalError(message, { cause: error });
}
