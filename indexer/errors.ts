import pg from 'pg';
import { LedgerUnavailableError } from '../programs/client/sender/outcome.ts';

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

/**
 * How SQLSTATEs begin: connection, a database that only reads, serialization and deadlock, resources
 * such as a full disk, operator's intervention, the system's errors such as a failing disk.
 */
const PASSING_SQLSTATES = ['08', '25006', '40', '53', '57', '58'];

/** How the system says that a host cannot be reached for now. */
const PASSING_SYSTEM_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** How the database's driver says that a connection is gone, which it gives no code. */
const CONNECTION_GONE =
  /^Connection terminated|timeout exceeded when trying to connect|not queryable/;

/** The one place that decides whether an error is retried or fatal. */
export function classify(error: unknown): RetryableError | FatalError {
  if (error instanceof RetryableError || error instanceof FatalError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return isPassing(error)
    ? new RetryableError(message, { cause: error })
    : new FatalError(message, { cause: error });
}

function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof LedgerUnavailableError) return true;
  const code = 'code' in error ? String(error.code) : '';
  if (error instanceof pg.DatabaseError) {
    return PASSING_SQLSTATES.some((beginning) => code.startsWith(beginning));
  }
  return PASSING_SYSTEM_ERRORS.has(code) || CONNECTION_GONE.test(error.message);
}
