import { types } from 'node:util';
import pg from 'pg';
import { ConfigError } from './config.ts';
import type { Logger } from './logger.ts';
import { READ_ONLY_SQLSTATE, UNDEFINED_TABLE_SQLSTATE } from './postgres.ts';
import { reasonOf } from './reasonOf.ts';
import { delay, systemTime, type Time } from './wait.ts';

/**
 * How SQLSTATEs begin that waiting may cure: connection, read-only database, deadlock, resources such
 * as disk space, an operator's intervention, error of the system.
 */
const TRANSIENT_SQLSTATES = ['08', READ_ONLY_SQLSTATE, '40', '53', '57', '58'];

/** How the system says that a host cannot be reached for now. */
const TRANSIENT_SYSTEM_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** A socket of this machine that its server has not made yet. */
const isSocketMissing = ({ code, syscall }: NodeJS.ErrnoException): boolean =>
  code === 'ENOENT' && syscall === 'connect';

/** Messages of the driver, without a code, for its own time-outs and a lost connection. */
const CONNECTION_GONE =
  /^Connection terminated|timeout exceeded when trying to connect|^Query read timeout|not queryable/;

/**
 * Whether the cause is outside and may pass, so that a retry may succeed. The first try may have
 * succeeded, too: a connection lost during a commit leaves that open.
 */
export function isTransient(error: unknown): boolean {
  if (!types.isNativeError(error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  if (error instanceof pg.DatabaseError) {
    return TRANSIENT_SQLSTATES.some((beginning) => code.startsWith(beginning));
  }
  return (
    TRANSIENT_SYSTEM_ERRORS.has(code) ||
    isSocketMissing(error) ||
    CONNECTION_GONE.test(error.message)
  );
}

/**
 * Whether a statement found no mirror: it was lost, and readers find another one once that is whole.
 * One of its tables alone is never missing.
 */
export function lacksMirror(error: unknown): boolean {
  return (
    error instanceof pg.DatabaseError &&
    error.code === UNDEFINED_TABLE_SQLSTATE &&
    error.message.includes('"mirror.')
  );
}

/** Reads what the mirror has; undefined where there is none. */
export async function unlessMirrorLacks<Found>(
  read: () => Promise<Found>,
): Promise<Found | undefined> {
  try {
    return await read();
  } catch (error) {
    if (lacksMirror(error)) return undefined;
    throw error;
  }
}

/** How SQLSTATEs begin that refuse user, password, database or a right. */
const REFUSING_SQLSTATES = ['28', '3D', '42501'];
/** Messages of the driver for a missing password, and for TLS that one side refuses. */
const CANNOT_AGREE = /^SASL|SSL|certificate/i;

/** Advice where the message of database or driver has none. */
const REMEDIES: readonly (readonly [words: RegExp, remedy: string])[] = [
  [/altnames/, 'sslmode=verify-ca compares no name'],
  [
    /self.signed certificate|unable to (?:verify|get)/,
    "sslrootcert=<file> names its authority's certificate, and sslmode=require checks none",
  ],
  [/certificate has expired/, 'renew it, or sslmode=require checks none'],
  [/does not support SSL/, 'sslmode=disable connects without TLS'],
  [/no encryption|SSL off/, 'sslmode=require encrypts'],
  [
    /^permission denied|^must be (?:owner|member)/,
    'its user lacks a right, which svc roles gives the users that it makes',
  ],
];

/**
 * The message of a database that refuses its address, user or password, with advice. Waiting does not
 * help there.
 *
 * @returns undefined for any other error
 */
export function refusalOf(error: unknown): string | undefined {
  const { code, message = '' } = (error ?? {}) as NodeJS.ErrnoException;
  const isRefusal =
    error instanceof pg.DatabaseError
      ? REFUSING_SQLSTATES.some((beginning) => code?.startsWith(beginning))
      : CANNOT_AGREE.test(reasonOf(error));
  if (!isRefusal) return undefined;
  const words = message || reasonOf(error);
  const [, remedy] = REMEDIES.find(([sign]) => sign.test(words)) ?? [];
  return remedy === undefined ? words : `${words}: ${remedy}`;
}

/** The database was last migrated by an earlier release than this one. */
export class DatabaseTooOldError extends Error {
  override name = 'DatabaseTooOldError';
}

const PAUSE_MS = 1_000;
/** Between two log lines about a database that stays away. */
const SILENCE_MS = 5_000;

/**
 * Runs the first step of a process, so that processes need no order of starts. It is repeated every
 * second while the database is away, or lacks the tables that this release's indexer makes. The log
 * says what it waits for.
 *
 * @throws ConfigError where the database refuses its address, user or password
 * @throws any other error that waiting does not cure
 */
export async function awaitDatabase<Result>(
  begin: () => Promise<Result>,
  logger: Logger,
  time: Time = systemTime,
): Promise<Result> {
  let saidAtMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    try {
      return await begin();
    } catch (error) {
      const waitsFor = missingPartOf(error);
      const refusal = waitsFor === undefined && refusalOf(error);
      if (refusal) throw new ConfigError(`DATABASE_URL: the database refuses it: ${refusal}`);
      if (!waitsFor) throw error;
      if (time.nowMs() - saidAtMs >= SILENCE_MS) {
        saidAtMs = time.nowMs();
        logger.warn({ msg: `Waiting for ${waitsFor}`, reason: reasonOf(error) });
      }
    }
    await delay(PAUSE_MS, undefined, time);
  }
}

function missingPartOf(error: unknown): string | undefined {
  if (isTransient(error)) return 'the database at DATABASE_URL';
  const isTableMissing =
    error instanceof DatabaseTooOldError ||
    (error instanceof pg.DatabaseError && error.code === UNDEFINED_TABLE_SQLSTATE);
  return isTableMissing ? 'the indexer, which makes the tables' : undefined;
}
