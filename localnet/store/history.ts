import type { DatabaseSync } from 'node:sqlite';
import { damaged, explainSqlite } from './errors.ts';
import { checksumOf, type StoredTransaction } from './schema.ts';

/** A transaction that mentions an address. */
export interface Mention {
  readonly signature: Uint8Array;
  readonly slot: number;
  /** Its position in the block. */
  readonly transactionIndex: number;
  readonly error: string | null;
  readonly memo: string | null;
  /** The ledger's clock at its block. */
  readonly clockMs: number;
}

/** A block that has transactions. */
export interface BlockRow {
  readonly slot: number;
  readonly clockMs: number;
  readonly firstPosition: number;
  readonly lastPosition: number;
}

type Located = Pick<StoredTransaction, 'position' | 'slot' | 'error'>;

interface TransactionRow extends StoredTransaction {
  readonly checksum: number;
}

const COLUMNS = 'position, signature, slot, error, memo, wire, meta, checksum';

/** The ledger's history, read from disk. @param path the file's name, for errors */
export function createHistory(database: DatabaseSync, path: string) {
  const { byName, located, byPositions, mentioning, oneBlock } = prepareReads(database);
  const newest = database
    .prepare(
      `select coalesce((select max(position) from transactions), 0) as position,
              coalesce((select max(slot) from blocks), 0) as slot`,
    )
    .get() as { position: number; slot: number };

  function check(row: TransactionRow): StoredTransaction {
    const { checksum, ...transaction } = row;
    if (checksumOf(row.wire, row.meta) === checksum) return transaction;
    throw damaged(path, 'a transaction in it is not what was written');
  }

  function reading<Result>(read: () => Result): Result {
    try {
      return read();
    } catch (error) {
      throw explainSqlite(error, path);
    }
  }

  return {
    /** The position and slot of the newest transaction and block; 0 at the beginning. */
    lastPosition: newest.position,
    lastSlot: newest.slot,
    transaction: (signature: Uint8Array): StoredTransaction | undefined =>
      reading(() => {
        const row = byName.get(signature) as TransactionRow | undefined;
        return row && check(row);
      }),
    /** Position, slot and error of a transaction, without its content. */
    locate: (signature: Uint8Array): Located | undefined =>
      reading(() => located.get(signature) as Located | undefined),
    /**
     * Transactions that mention an address, newest first.
     *
     * @param query.before only transactions before this position
     * @param query.after only transactions after this position
     */
    mentions: (query: {
      address: Uint8Array;
      before: number;
      after: number;
      slotMax: number;
      limit: number;
    }): Mention[] => {
      const { address, before, after, slotMax, limit } = query;
      const read = () => mentioning.all(address, before, after, slotMax, limit);
      return reading(read) as unknown as Mention[];
    },
    block: (slot: number) => reading(() => oneBlock.get(slot) as BlockRow | undefined),
    transactionsOf: ({ firstPosition, lastPosition }: BlockRow): StoredTransaction[] =>
      reading(() =>
        (byPositions.all(firstPosition, lastPosition) as unknown as TransactionRow[]).map(check),
      ),
  };
}

function prepareReads(database: DatabaseSync) {
  return {
    byName: database.prepare(`select ${COLUMNS} from transactions where signature = ?`),
    located: database.prepare('select position, slot, error from transactions where signature = ?'),
    byPositions: database.prepare(
      `select ${COLUMNS} from transactions where position between ? and ? order by position`,
    ),
    mentioning: database.prepare(
      `select t.signature, t.slot, t.error, t.memo,
              t.position - b.first_position as transactionIndex, b.clock_ms as clockMs
         from mentions m join transactions t on t.position = m.position
         join blocks b on b.slot = t.slot
        where m.address = ? and m.position < ? and m.position > ? and t.slot <= ?
        order by m.position desc limit ?`,
    ),
    oneBlock: database.prepare(
      `select slot, clock_ms as clockMs, first_position as firstPosition,
              last_position as lastPosition
         from blocks where slot = ?`,
    ),
  };
}
