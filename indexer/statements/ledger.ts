import type { Database } from '../../common/postgres.ts';

/** A program on a ledger. */
export interface BoundLedger {
  readonly genesisHash: string;
  readonly programId: string;
}

/** Notes what the mirror shows, unless that is noted already. */
export async function insertLedger(database: Database, ledger: BoundLedger): Promise<void> {
  await database.query(
    'insert into ledger (genesis_hash, program_id) values ($1, $2) on conflict do nothing',
    [ledger.genesisHash, ledger.programId],
  );
}

/** @returns undefined before the first sync */
export async function selectLedger(database: Database): Promise<BoundLedger | undefined> {
  const { rows } = await database.query<{ genesis_hash: string; program_id: string }>(
    'select genesis_hash, program_id from ledger',
  );
  const [row] = rows;
  return row && { genesisHash: row.genesis_hash, programId: row.program_id };
}
