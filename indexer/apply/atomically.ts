import type { Database } from '../../common/postgres.ts';

/**
 * Runs `work` in one database transaction on a connection that the caller owns. When even the
 * rollback fails, the connection is gone and the server has rolled back by itself.
 */
export async function atomically<Result>(
  database: Database,
  work: () => Promise<Result>,
): Promise<Result> {
  await database.query('begin');
  try {
    const result = await work();
    await database.query('commit');
    return result;
  } catch (error) {
    await database.query('rollback').catch(() => undefined);
    throw error;
  }
}
