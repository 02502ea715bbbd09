import type pg from 'pg';
import { atomically } from '../apply/atomically.ts';
import { RetryableError } from '../errors.ts';
import { createMirrorSchema, MIRROR_SCHEMA } from '../mirrorSchema.ts';

/** Where a new mirror is made. */
export const NEXT_SCHEMA = 'mirror_next';
/** Where the one that it replaces is left, until it is dropped. */
export const PREVIOUS_SCHEMA = 'mirror_previous';

const DROP_ATTEMPTS_MAX = 60;
const DROP_ATTEMPT_MS = 1_000;
/** SQLSTATE of a lock that was not granted within `lock_timeout`. */
const LOCK_NOT_AVAILABLE = '55P03';

/** Makes an empty mirror beside the one that is served. */
export async function makeNext(client: pg.PoolClient): Promise<void> {
  await dropPrevious(client);
  await atomically(client, async () => {
    await client.query(`drop schema if exists ${NEXT_SCHEMA} cascade`);
    await createMirrorSchema(client, NEXT_SCHEMA);
    // A mirror of a local ledger is marked as one by its comment.
    const { rows } = await client.query<{ comment: string | null }>(
      `select quote_nullable(obj_description('${MIRROR_SCHEMA}'::regnamespace)) as comment`,
    );
    await client.query(`comment on schema ${NEXT_SCHEMA} is ${rows[0]?.comment ?? 'null'}`);
  });
}

/**
 * Puts the new mirror in the place of the old one. Statements name `mirror`, prepared ones too: the
 * server plans them again. One that is under way reads the old tables to its end.
 */
export async function switchSchemas(client: pg.PoolClient): Promise<void> {
  await atomically(client, async () => {
    await client.query(`alter schema ${MIRROR_SCHEMA} rename to ${PREVIOUS_SCHEMA}`);
    await client.query(`alter schema ${NEXT_SCHEMA} rename to ${MIRROR_SCHEMA}`);
  });
}

/**
 * Drops what a switch has left, once nobody reads it any more. Not in the switch itself: a slow
 * reader would hold up the drop, and the drop everybody else.
 *
 * @throws RetryableError when somebody reads it for a minute; the next rebuild drops it
 */
export async function dropPrevious(client: pg.PoolClient): Promise<void> {
  await client.query(`set lock_timeout = ${DROP_ATTEMPT_MS}`);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.query(`drop schema if exists ${PREVIOUS_SCHEMA} cascade`);
      await client.query('reset lock_timeout');
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE) throw error;
      if (attempt === DROP_ATTEMPTS_MAX) {
        throw new RetryableError('Somebody keeps reading an old mirror that was replaced', {
          cause: error,
        });
      }
    }
  }
}
