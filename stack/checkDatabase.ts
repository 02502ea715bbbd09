import { createPool } from '../common/postgres.ts';
import { reasonOf } from '../common/transientErrors.ts';
import { StackError } from './errors.ts';

/**
 * Asks the database that the user named, before anything rests on it: the parts would wait for one
 * that is away, as they should where a machine starts everything at once.
 *
 * @throws StackError when nothing answers there, or not to that name and password
 */
export async function checkDatabase(databaseUrl: string): Promise<void> {
  const pool = createPool({ databaseUrl, applicationName: 'svc-stack', max: 1 });
  try {
    await pool.query('select 1');
  } catch (error) {
    throw new StackError(`The database of DATABASE_URL cannot be used: ${reasonOf(error)}`, {
      cause: error,
    });
  } finally {
    await pool.end();
  }
}
