import type pg from 'pg';
import { createPool, inTransaction } from '../common/postgres.ts';
import { reasonOf } from '../common/transientErrors.ts';
import { clearMirror } from '../indexer/sql/digest.ts';
import { migrate } from '../indexer/sql/migrate.ts';
import { StackError } from './config.ts';

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

/**
 * Marks a mirror that shows a local ledger, which nobody will see again. The ledger's genesis
 * hash follows, which each has alone: whoever ends a start before an indexer has bound the mirror,
 * and names a cluster at the next, leaves the mark on the cluster's mirror.
 */
const MARK = 'Mirror of an embedded ledger: npm start may empty it. Its genesis hash is ';

/**
 * Makes the schema of a database ready for a ledger that has just begun: the mirror of an earlier
 * local ledger is emptied, any other is refused. Keys, webhooks and what else the ledger does not
 * know stay.
 *
 * @param input.genesisHash that of the ledger that begins
 * @throws StackError when the mirror is, or may be, another ledger's
 */
export async function prepareThrowawayMirror(input: {
  databaseUrl: string;
  genesisHash: string;
}): Promise<void> {
  const { databaseUrl, genesisHash } = input;
  const pool = createPool({ databaseUrl, applicationName: 'svc-stack', max: 1 });
  try {
    await migrate(pool);
    await inTransaction(pool, (client) => empty(client, genesisHash));
  } finally {
    await pool.end();
  }
}

async function empty(client: pg.PoolClient, genesisHash: string): Promise<void> {
  if (!(await isThrowaway(client))) {
    throw new StackError(
      'The database of DATABASE_URL or SVC_DATA_DIR mirrors another ledger. A local ledger ' +
        'begins empty: name an empty database or folder, or that ledger by SOLANA_RPC_URL.',
    );
  }
  await clearMirror(client);
  // Nobody was told of a low balance on a ledger that has just begun.
  await client.query('update service.credit_alerts set is_low = false');
  await client.query(`comment on schema mirror is ${client.escapeLiteral(MARK + genesisHash)}`);
}

/** Whether the mirror is nobody's yet, or the local ledger's that it is marked for. */
async function isThrowaway(client: pg.PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ is_throwaway: boolean }>(
    `select coalesce(
              (select obj_description('mirror'::regnamespace) is not distinct from
                      $1::text || genesis_hash
                 from mirror.ledger),
              not exists (select from mirror.transactions)) as is_throwaway`,
    [MARK],
  );
  return rows[0]?.is_throwaway === true;
}
