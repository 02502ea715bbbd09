import pg from 'pg';

/** What a copy of a row calls its own, by table: the columns that lead to a transaction or an account. */
const OWN_COLUMNS = {
  transactions: ['signature'],
  journal: ['signature'],
  account_changes: ['address', 'signature'],
  jobs: ['address', 'job_id', 'escrow_tx', 'settlement_tx'],
} as const;

/**
 * Fills the mirror with old jobs, with their transactions, events and changes. They are copies of the
 * first job that the service settled, each a second older than the one before. They are closed, so
 * that the keeper and the reconciliation leave them alone.
 */
export async function fillMirror(databaseUrl: string, jobs: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ address: string; signatures: string[] }>(
    `select address, array_agg(distinct signature) as signatures
     from mirror.jobs join mirror.account_changes using (address)
     where status = 'settled' group by address order by min(locked_at) limit 1`,
  );
  const [first] = rows;
  if (!first) throw new Error('The service has settled no job');
  for (const [table, columns] of Object.entries(OWN_COLUMNS)) {
    const own = columns.map((column) => `'${column}', original.${column} || '-' || place`);
    const [filter, value] =
      table === 'jobs'
        ? ['address = $2', first.address]
        : ['signature = any($2)', first.signatures];
    const older = "'locked_at', original.locked_at - place, 'closed', true";
    const changed = table === 'jobs' ? [...own, older] : own;
    await client.query(
      `insert into mirror.${table} select copy.* from generate_series(1, $1::integer) place
       cross join mirror.${table} original
       cross join jsonb_populate_record(original, jsonb_build_object(${changed.join()})) copy
       where original.${filter}`,
      [jobs, value],
    );
    await client.query(`vacuum analyze mirror.${table}`);
  }
  await client.end();
}
