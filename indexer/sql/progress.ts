import type { Commitment } from '../../common/net/commitment.ts';
import type { Database } from '../../common/postgres.ts';

/** The slot before which a sweep has stored everything; 0 before the first one. */
export async function selectCursor(database: Database, name: Commitment): Promise<bigint> {
  const { rows } = await database.query<{ slot: bigint }>({
    name: 'select_cursor',
    text: 'select slot from cursors where name = $1',
    values: [name],
  });
  return rows[0]?.slot ?? 0n;
}

/** Moves cursors ahead, together; none goes back. */
export async function moveCursors(
  database: Database,
  names: readonly Commitment[],
  slot: bigint,
): Promise<void> {
  await database.query({
    name: 'move_cursors',
    text: `
      insert into cursors (name, slot) select unnest($1::text[]), $2
      on conflict (name) do update set slot = greatest(cursors.slot, excluded.slot)`,
    values: [names, slot],
  });
}

/** Notes which transactions the ledger will never take back. */
export async function markFinalized(
  database: Database,
  signatures: readonly string[],
): Promise<void> {
  await database.query({
    text: `
      update transactions set commitment = 'finalized'
      where signature = any($1) and commitment = 'confirmed'`,
    values: [signatures],
  });
}

/** The oldest transactions up to a slot that are not known to be final. */
export async function selectUnfinalized(
  database: Database,
  query: { slotMax: bigint; limit: number },
): Promise<{ signature: string; slot: bigint }[]> {
  const { rows } = await database.query<{ signature: string; slot: bigint }>({
    text: `
      select signature, slot from transactions
      where commitment = 'confirmed' and slot <= $1
      order by slot limit $2`,
    values: [query.slotMax, query.limit],
  });
  return rows;
}

/** A program on a ledger. */
export interface BoundLedger {
  readonly genesisHash: string;
  readonly programId: string;
}

/** Notes whose database it is, unless that is noted already. */
export async function insertLedger(database: Database, ledger: BoundLedger): Promise<void> {
  await database.query(
    'insert into service.ledger (genesis_hash, program_id) values ($1, $2) on conflict do nothing',
    [ledger.genesisHash, ledger.programId],
  );
}

/** @returns undefined before the first sync */
export async function selectLedger(database: Database): Promise<BoundLedger | undefined> {
  const { rows } = await database.query<{ genesis_hash: string; program_id: string }>(
    'select genesis_hash, program_id from service.ledger',
  );
  const [row] = rows;
  return row && { genesisHash: row.genesis_hash, programId: row.program_id };
}

/** An account with an event that waits for a change which is not in the journal. */
interface Gap {
  readonly address: string;
  /** Of the account's last change before the missing one; 0 where its first one is missing. */
  readonly slot: bigint;
}

export async function selectGaps(database: Database): Promise<Gap[]> {
  const { rows } = await database.query<Gap>(`
      select distinct waiting.address, coalesce((
        select journal.slot
        from account_changes folded
        join journal using (signature, instruction_index, inner_index)
        where folded.address = waiting.address and folded.sequence = reached.sequence
          and journal.folded
      ), 0) as slot
      from journal
      join account_changes waiting using (signature, instruction_index, inner_index)
      left join sequences reached on reached.address = waiting.address
      where not folded
        and waiting.sequence > coalesce(reached.sequence, 0) + 1
        and not exists (
          select from account_changes present
          where present.address = waiting.address
            and present.sequence = coalesce(reached.sequence, 0) + 1
        )`);
  return rows;
}

/** The newest transaction that is final, of those before a slot where one is given. */
export async function selectNewestFinal(
  database: Database,
  before: bigint | undefined,
): Promise<{ signature: string; slot: bigint } | undefined> {
  const { rows } = await database.query<{ signature: string; slot: bigint }>({
    text: `
      select signature, slot from transactions
      where commitment = 'finalized' and slot < coalesce($1::bigint, 9223372036854775807)
      order by slot desc limit 1`,
    values: [before],
  });
  return rows[0];
}

/** How many changes of each account the tables hold; accounts that they lack are not in the map. */
export async function selectSequences(
  database: Database,
  addresses: readonly string[],
): Promise<Map<string, bigint>> {
  const { rows } = await database.query<{ address: string; sequence: bigint }>({
    name: 'select_sequences',
    text: 'select address, sequence from sequences where address = any($1)',
    values: [addresses],
  });
  return new Map(rows.map(({ address, sequence }) => [address, sequence]));
}

/** The slots of those transactions that are stored, by signature. */
export async function selectStored(
  database: Database,
  signatures: readonly string[],
): Promise<Map<string, bigint>> {
  const { rows } = await database.query<{ signature: string; slot: bigint }>({
    text: 'select signature, slot from transactions where signature = any($1)',
    values: [signatures],
  });
  return new Map(rows.map(({ signature, slot }) => [signature, slot]));
}
