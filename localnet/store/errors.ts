/** The ledger's files cannot be used. The message says which, why, and what to do. */
export class LedgerFilesError extends Error {
  override name = 'LedgerFilesError';
}

/** Nothing more can be written for now, as on a full disk. What was written stays. */
export class StorageFullError extends Error {
  override name = 'StorageFullError';
}

/** SQLite's numbers for what passes: a busy file, an I/O error, a full disk, no room to open. */
const PASSING = new Set([5, 10, 13, 14]);
const LOCKED = 5;
/** What it says of a file that it cannot read as one of its own. */
const DAMAGED = new Set([11, 26]);
const PRIMARY_CODE_MASK = 0xff;

interface SqliteError extends Error {
  errcode?: number;
}

/** Says in our words what SQLite refused. Any other error is thrown as it is. */
export function explainSqlite(error: unknown, path: string): Error {
  const { errcode, message } = error as SqliteError;
  if (errcode === undefined) return error as Error;
  const code = errcode & PRIMARY_CODE_MASK;
  if (DAMAGED.has(code)) return damaged(path, message, error);
  if (code === LOCKED) {
    return new LedgerFilesError(`Another process has the ledger ${path} open`, { cause: error });
  }
  if (PASSING.has(code)) {
    return new StorageFullError(`The ledger cannot write ${path}: ${message}`, { cause: error });
  }
  return error as Error;
}

export function damaged(path: string, reason: string, cause?: unknown): LedgerFilesError {
  return new LedgerFilesError(
    `The ledger's file ${path} is damaged (${reason}). Put a copy of it back, or delete its ` +
      'folder to begin a new ledger.',
    { cause },
  );
}
