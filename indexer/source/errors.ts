import { reasonOf } from '../../common/reasonOf.ts';
import { isTransient } from '../../common/transientErrors.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/sendResult.ts';

/** The cause lies outside and may pass: a retry may succeed. */
export class RetryableError extends Error {
  override name = 'RetryableError';
}

/** A node has not reached the slot of the request. It soon will, or another one has. */
export class NodeBehindError extends RetryableError {
  override name = 'NodeBehindError';
}

/** A retry would fail again: the process ends, and a person has to look. */
export class FatalError extends Error {
  override name = 'FatalError';
}

/** The one place that decides whether an error is retried or fatal. */
export function classify(error: unknown): RetryableError | FatalError {
  if (error instanceof RetryableError || error instanceof FatalError) return error;
  const message = reasonOf(error);
  return error instanceof LedgerUnavailableError || isTransient(error)
    ? new RetryableError(message, { cause: error })
    : new FatalError(message, { cause: error });
}
