import type pg from 'pg';
import type { Database } from '../../common/postgres.ts';

const CHANNEL = 'helius_hint';

/**
 * Passes a hint to whichever process keeps the mirror: a public address leads to any of them, also
 * to one that stands by.
 */
export async function passHint(database: Database): Promise<void> {
  await database.query(`notify ${CHANNEL}`);
}

/** To be called before anything else uses the client, since a rollback would take it back. */
export async function listenForHints(client: pg.PoolClient, onHint: () => void): Promise<void> {
  client.on('notification', ({ channel }) => {
    if (channel === CHANNEL) onHint();
  });
  await client.query(`listen ${CHANNEL}`);
}
