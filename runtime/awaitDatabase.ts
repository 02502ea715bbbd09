import pg from 'pg';
import type { Logger } from './logger.ts';
import { isPassing } from './passingErrors.ts';
import { UNDEFINED_TABLE_SQLSTATE } from './postgres.ts';
import { reasonOf } from './reasonOf.ts';
import { delay } from './wait.ts';

const PAUSE_MS = 1_000;
/** Between two words about a database that stays away. */
const SILENCE_MS = 5_000;

/**
 * Does what a process begins with. While the database is away, or the indexer has not made its
 * tables yet, it is done again every second, but not in silence: processes that a machine starts
 * together need no order.
 *
 * @throws what passes by no waiting, such as a wrong password
 */
export async function awaitDatabase<Result>(
  begin: () => Promise<Result>,
  logger: Logger,
): Promise<Result> {
  let saidAtMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    try {
      return await begin();
    } catch (error) {
      const waitsFor = lackAt(error);
      if (!waitsFor) throw error;
      if (performance.now() - saidAtMs >= SILENCE_MS) {
        saidAtMs = performance.now();
        logger.warn({ msg: `Waiting for ${waitsFor}`, reason: reasonOf(error) });
      }
    }
    await delay(PAUSE_MS);
  }
}

function lackAt(error: unknown): string | undefined {
  if (isPassing(error)) return 'the database at DATABASE_URL';
  const isTableMissing =
    error instanceof pg.DatabaseError && error.code === UNDEFINED_TABLE_SQLSTATE;
  return isTableMissing ? 'the indexer, which makes the tables' : undefined;
}
