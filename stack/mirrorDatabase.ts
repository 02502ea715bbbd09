import type pg from 'pg';
import { assertOwnSessions } from '../common/net/databaseSession.ts';
import { createPool, inTransaction } from '../common/postgres.ts';
import { reasonOf } from '../common/reasonOf.ts';
import { refusalOf } from '../common/transientErrors.ts';
import { clearMirror } from '../indexer/sql/digest.ts';
import { migrate } from '../indexer/sql/migrate.ts';
import { serveMirror } from '../indexer/sql/schema.ts';
import { StackError } from './config.ts';

/**
 * Checks the database of DATABASE_URL at the start. The parts themselves would wait for it, as they
 * should when a machine starts everything at once.
 *
 * @throws StackError when it is unreachable, refuses the name or password, or keeps no session
 */
export async function checkDatabase(databaseUrl: string): Promise<void> {
  const pool = createPool({ databaseUrl, applicationName: 'svc-stack', max: 2 });
  try {
    await assertOwnSessions(pool);
  } catch (error) {
    const reason = refusalOf(error) ?? reasonOf(error);
    throw new StackError(
      `The database of DATABASE_URL cannot be used: ${reason}. Start it, or correct ` +
        'DATABASE_URL. Without it, npm start brings its own.',
      { cause: error },
    );
  } finally {
    await pool.end();
  }
}

/**
 * The comment on a mirror of a local ledger, which is temporary. The ledger's genesis hash follows.
 * A start may end before an indexer has bound the mirror. If the next one names a cluster, the
 * cluster's mirror keeps this comment, and only the hash shows the difference.
 */
const MARK = 'Mirror of an embedded ledger: npm start may empty it. Its genesis hash is ';

/**
 * Prepares a database for a new local ledger. The mirror of an earlier local ledger is emptied, any
 * other is refused. Keys, webhooks and other rows that do not come from the ledger stay.
 *
 * @param input.genesisHash the new ledger's
 * @throws StackError when the mirror belongs, or may belong, to another ledger
 */
export async function prepareLocalMirror(input: {
  databaseUrl: string;
  genesisHash: string;
}): Promise<void> {
  const { databaseUrl, genesisHash } = input;
  const pool = createPool({ databaseUrl, applicationName: 'svc-stack', max: 1 });
  try {
    await migrate(pool);
    await inTransaction(pool, async (client) => {
      // Of a new ledger, an empty mirror is whole.
      await serveMirror(client);
      await empty(client, genesisHash);
    });
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === undefined) throw error;
    throw new StackError(`The database of DATABASE_URL refuses: ${refusal}.`, { cause: error });
  } finally {
    await pool.end();
  }
}

async function empty(client: pg.PoolClient, genesisHash: string): Promise<void> {
  if (!(await isLocalMirror(client))) {
    throw new StackError(
      'The database of DATABASE_URL or SVC_DATA_DIR mirrors another ledger. A local ledger ' +
        'begins empty: choose an empty database or folder, or set SOLANA_RPC_URL to that ledger.',
    );
  }
  await clearMirror(client);
  // A new ledger has announced no low balance.
  await client.query('update service.credit_alerts set is_low = false');
  // It has no job that a request could repeat, and its keys may not open what others have sealed.
  await client.query('delete from service.request_secret');
  await client.query(`comment on schema mirror is ${client.escapeLiteral(MARK + genesisHash)}`);
}

/** Whether the mirror is unused, or belongs to the local ledger in its comment. */
async function isLocalMirror(client: pg.PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ is_local: boolean }>(
    `select coalesce(
              (select obj_description('mirror'::regnamespace) is not distinct from
                      $1::text || genesis_hash
                 from service.ledger),
              not exists (select from mirror.transactions)) as is_local`,
    [MARK],
  );
  return rows[0]?.is_local === true;
}
