import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Account } from '../runtime/runtime.ts';
import type { TimeAnchor } from '../runtime/timeline.ts';
import { damaged, explainSqlite, LedgerFilesError } from './errors.ts';
import { createHistory } from './history.ts';
import {
  APPLICATION_ID,
  checksumOf,
  decodeAccount,
  encodeAccount,
  SCHEMA,
  STORE_VERSION,
  type StoredTransaction,
} from './schema.ts';
import { assertIntactLog } from './writeAheadLog.ts';

/** The content of one block. */
type StoredBlock = {
  readonly slot: number;
  readonly clockMs: number;
  readonly transactions: readonly (StoredTransaction & { readonly keys: readonly Uint8Array[] })[];
  /** The accounts after the block; null: closed. */
  readonly accounts: Iterable<readonly [address: Uint8Array, account: Account | null]>;
};

/** The ledger on disk: everything that survives its process, and all history. */
export type Store = ReturnType<typeof createStore>;

const FILE_NAME = 'ledger.sqlite';
const SEED_BYTES = 32;
/** Pages of 4 kB: enough to keep often written ones in memory. */
const CACHE_PAGES = 8_192;
/** Pages of the log before a checkpoint moves them into the file. */
const CHECKPOINT_PAGES = 4_096;

/**
 * Opens a ledger's files, or begins a new ledger. Without a folder, the ledger is in an unnamed
 * temporary file that disappears with the process.
 *
 * @param folder created if it does not exist
 * @throws LedgerFilesError for files that are damaged, foreign, of another version, or open in
 *   another process
 */
export function openStore(folder: string | undefined): Store {
  if (folder === undefined) {
    const database = new DatabaseSync('');
    prepare(database, '', true);
    return createStore(database, 'the ledger’s temporary file');
  }
  makeFolder(folder);
  const path = join(folder, FILE_NAME);
  const isNew = !existsSync(path);
  if (!isNew) assertIntactLog(`${path}-wal`);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    prepare(database, path, isNew);
    assertLedgerFile(database, path);
    return createStore(database, path);
  } catch (error) {
    // Otherwise this process would keep the files locked.
    database?.close();
    throw explainSqlite(error, path);
  }
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (error) {
    const { message } = error as Error;
    throw new LedgerFilesError(`The ledger's folder ${folder} cannot be made: ${message}`, {
      cause: error,
    });
  }
}

function prepare(database: DatabaseSync, path: string, isNew: boolean): void {
  database.exec(`
    pragma locking_mode = exclusive;
    pragma cache_size = ${CACHE_PAGES};
    pragma temp_store = file;
  `);
  if (path === '') {
    // A temporary file needs no durability: the journal is in memory, and no write waits for the disk.
    database.exec('pragma journal_mode = memory; pragma synchronous = off;');
  } else {
    // The log survives the process; only a checkpoint waits for the disk.
    database.exec(`
      pragma journal_mode = wal;
      pragma synchronous = normal;
      pragma wal_autocheckpoint = ${CHECKPOINT_PAGES};
    `);
  }
  if (isNew) begin(database);
}

function begin(database: DatabaseSync): void {
  database.exec(`
    begin immediate;
    pragma application_id = ${APPLICATION_ID};
    pragma user_version = ${STORE_VERSION};
    ${SCHEMA}
  `);
  database
    .prepare('insert into ledger (name, value) values (?, ?)')
    .run('seed', randomBytes(SEED_BYTES));
  database.exec('commit');
}

function assertLedgerFile(database: DatabaseSync, path: string): void {
  const read = (pragma: string) => database.prepare(`pragma ${pragma}`).get()?.[pragma];
  if (read('application_id') !== APPLICATION_ID) {
    throw new LedgerFilesError(`${path} is no ledger of this program: name another folder`);
  }
  const version = read('user_version');
  if (version !== STORE_VERSION) {
    throw new LedgerFilesError(
      `The ledger ${path} has files of version ${version}, and this program reads ` +
        `${STORE_VERSION}. Delete its folder to begin a new ledger.`,
    );
  }
}

function createStore(database: DatabaseSync, path: string) {
  const statements = prepareWrites(database);

  function withStoreErrors(act: () => void): void {
    try {
      act();
    } catch (error) {
      if (database.isTransaction) database.exec('rollback');
      throw explainSqlite(error, path);
    }
  }

  return {
    ...createHistory(database, path),
    /** Random bytes of this ledger, from which its genesis hash and blockhashes are derived. */
    seed: readSeed(database, path),
    anchors: readAnchors(database),

    /** @throws StorageFullError when the disk is full */
    storeAnchor: ({ slot, wallMs, slotMs, clockMs, isClockRunning }: TimeAnchor): void =>
      withStoreErrors(() => {
        statements.insertAnchor.run(slot, wallMs, slotMs, clockMs, isClockRunning ? 1 : 0);
      }),

    /** Every account, once. @throws LedgerFilesError */
    accounts: () => readAccounts(database, path),

    /** Writes a block as a whole or not at all. @throws StorageFullError when the disk is full */
    append: (block: StoredBlock): void =>
      withStoreErrors(() => {
        database.exec('begin immediate');
        writeBlock(statements, block);
        database.exec('commit');
      }),

    /** Limits the file's size, to simulate a full disk. */
    limitPages: (pages: number): void => database.exec(`pragma max_page_count = ${pages}`),
    close: (): void => database.close(),
  };
}

function prepareWrites(database: DatabaseSync) {
  return {
    insertAnchor: database.prepare(
      `insert or replace into time_anchors (slot, wall_ms, slot_ms, clock_ms, is_clock_running)
       values (?, ?, ?, ?, ?)`,
    ),
    upsertAccount: database.prepare(
      'insert or replace into accounts (address, state, checksum) values (?, ?, ?)',
    ),
    deleteAccount: database.prepare('delete from accounts where address = ?'),
    insertBlock: database.prepare(
      'insert into blocks (slot, clock_ms, first_position, last_position) values (?, ?, ?, ?)',
    ),
    insertTransaction: database.prepare(
      `insert into transactions (position, signature, slot, error, memo, wire, meta, checksum)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    insertMention: database.prepare(
      'insert or ignore into mentions (address, position) values (?, ?)',
    ),
  };
}

function writeBlock(
  statements: ReturnType<typeof prepareWrites>,
  { slot, clockMs, transactions, accounts }: StoredBlock,
): void {
  for (const transaction of transactions) {
    const { position, signature, error, memo, wire, meta, keys } = transaction;
    const checksum = checksumOf(wire, meta);
    statements.insertTransaction.run(position, signature, slot, error, memo, wire, meta, checksum);
    for (const key of keys) statements.insertMention.run(key, position);
  }
  const first = transactions[0];
  const last = transactions.at(-1);
  if (first && last) {
    statements.insertBlock.run(slot, clockMs, first.position, last.position);
  }
  for (const [address, account] of accounts) {
    if (account === null) {
      statements.deleteAccount.run(address);
      continue;
    }
    const state = encodeAccount(account);
    statements.upsertAccount.run(address, state, checksumOf(address, state));
  }
}

function* readAccounts(
  database: DatabaseSync,
  path: string,
): Generator<readonly [address: Uint8Array, account: Account]> {
  const rows = database.prepare('select address, state, checksum from accounts').iterate();
  try {
    for (const row of rows) {
      const { address, state, checksum } = row as unknown as AccountRow;
      const account = decodeAccount(state);
      if (!account || checksumOf(address, state) !== checksum) {
        throw damaged(path, 'an account in it is not what was written');
      }
      yield [address, account];
    }
  } catch (error) {
    throw explainSqlite(error, path);
  }
}

interface AccountRow {
  address: Uint8Array;
  state: Uint8Array;
  checksum: number;
}

function readSeed(database: DatabaseSync, path: string): Uint8Array {
  const row = database.prepare("select value from ledger where name = 'seed'").get();
  const seed = row?.value;
  if (seed instanceof Uint8Array && seed.length === SEED_BYTES) return seed;
  throw damaged(path, 'it lacks its seed');
}

function readAnchors(database: DatabaseSync): TimeAnchor[] {
  const rows = database.prepare('select * from time_anchors order by slot').all();
  return rows.map((row) => ({
    slot: Number(row.slot),
    wallMs: Number(row.wall_ms),
    slotMs: Number(row.slot_ms),
    clockMs: Number(row.clock_ms),
    isClockRunning: row.is_clock_running === 1,
  }));
}
