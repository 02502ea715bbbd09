import type { Database } from '../../common/postgres.ts';
import { FatalError } from '../errors.ts';

/** Any number that nothing else in this database locks. */
const LOCK_KEY = 7_332_003n;

/** Makes this connection the only one that rebuilds. @throws FatalError when there is one already */
export async function claimRebuild(client: Database): Promise<void> {
  const { rows } = await client.query<{ acquired: boolean }>(
    'select pg_try_advisory_lock($1) as acquired',
    [LOCK_KEY],
  );
  if (!rows[0]?.acquired) throw new FatalError('The mirror is being rebuilt already');
}
