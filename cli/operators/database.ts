import type pg from 'pg';
import { ConfigError, readSetting } from '../../common/config.ts';
import { databaseUrlFault, isWholeDatabaseUrl } from '../../common/net/urls.ts';
import { createPool, UNDEFINED_TABLE_SQLSTATE } from '../../common/postgres.ts';
import { reasonOf } from '../../common/reasonOf.ts';
import { isTransient, refusalOf } from '../../common/transientErrors.ts';
import { readStackFile, STACK_FOLDER } from '../../stack/stackFile.ts';
import { asCommandError, messageOf } from '../terminal/asCommandError.ts';
import { CommandError } from '../terminal/output.ts';

/** By PostgreSQL's name for the SQLSTATE. */
const INVALID_SCHEMA_NAME = '3F000';

/**
 * Runs one command on the database of DATABASE_URL, or else of the stack that runs in the current
 * folder.
 *
 * @throws CommandError when there is neither, or the database cannot be used
 */
export async function withDatabase(
  work: (pool: pg.Pool, databaseUrl: string) => Promise<void>,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const databaseUrl =
    asCommandError(() => readSetting('DATABASE_URL', environment), messageOf(ConfigError)) ??
    readStackFile(STACK_FOLDER)?.databaseUrl;
  if (!databaseUrl) {
    throw new CommandError(
      'No database, on which the commands of operators work: ' +
        'set DATABASE_URL, or start a stack here with npm start.',
    );
  }
  const { host } = parseDatabaseUrl(databaseUrl);
  const pool = createPool({ databaseUrl, applicationName: 'svc-cli', max: 1 });
  try {
    await work(pool, databaseUrl);
  } catch (error) {
    throw explain(error as NodeJS.ErrnoException, host);
  } finally {
    await pool.end();
  }
}

/** Refuses an invalid URL without its value, which contains the password. */
function parseDatabaseUrl(text: string): URL {
  const fault = databaseUrlFault(text);
  if (fault !== undefined) throw new CommandError(`DATABASE_URL: ${fault}.`);
  if (isWholeDatabaseUrl(text)) return new URL(text);
  throw new CommandError(
    'DATABASE_URL is not the address of a PostgreSQL database. ' +
      'In a password / is written as %2F, ? as %3F, # as %23 and @ as %40.',
  );
}

function explain(error: NodeJS.ErrnoException, host: string): Error {
  const because = (message: string) => new CommandError(message, { cause: error });
  switch (error.code) {
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
      return because(`The database at ${host} cannot be reached.`);
    case UNDEFINED_TABLE_SQLSTATE:
    case INVALID_SCHEMA_NAME:
      return because(`The database at ${host} is empty: the indexer sets it up.`);
  }
  if (isTransient(error)) {
    return because(`The database at ${host} cannot be used now: ${reasonOf(error)}.`);
  }
  const refusal = refusalOf(error);
  return refusal === undefined ? error : because(`The database at ${host} refuses: ${refusal}.`);
}
