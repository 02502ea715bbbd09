import { types } from 'node:util';
import pg from 'pg';
import { READ_ONLY_SQLSTATE } from './postgres.ts';

/**
 * How SQLSTATEs begin: connection, a database that only reads, as after a change of roles,
 * serialization and deadlock, resources such as a full disk, operator's intervention, the system's
 * errors such as a failing disk.
 */
const PASSING_SQLSTATES = ['08', READ_ONLY_SQLSTATE, '40', '53', '57', '58'];

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

/** What the database's driver says of its own time-outs, and of a lost connection, without a code. */
const CONNECTION_GONE =
  /^Connection terminated|timeout exceeded when trying to connect|^Query read timeout|not queryable/;

/**
 * Whether the database or another host is only away for now: the cause lies outside, and the same
 * may succeed after a while. Whether it was done meanwhile is another question, which a connection
 * lost in the middle of a commit leaves open.
 */
export function isPassing(error: unknown): boolean {
  if (!types.isNativeError(error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  if (error instanceof pg.DatabaseError) {
    return PASSING_SQLSTATES.some((beginning) => code.startsWith(beginning));
  }
  return PASSING_SYSTEM_ERRORS.has(code) || CONNECTION_GONE.test(error.message);
}
