/** The ledger's files cannot be used. The message has the file, the reason and the remedy. */
export class LedgerFilesError extends Error {
  override name = 'LedgerFilesError';
}

/** Writing failed for now, for example on a full disk. Earlier data stays. */
export class StorageFullError extends Error {
  override name = 'StorageFullError';
}

/** SQLite's codes for transient errors: busy file, I/O error, full disk, failure to open. */
const TRANSIENT = new Set([5, 10, 13, 14]);
const LOCKED = 5;
/** SQLite's codes for a damaged or foreign file. */
const DAMAGED = new Set([11, 26]);
const PRIMARY_CODE_MASK = 0xff;

interface SqliteError extends Error {
  errcode?: number;
}

/** Converts an error of SQLite; any other error stays as it is. */
export function explainSqlite(error: unknown, path: string): Error {
  const { errcode, message } = error as SqliteError;
  if (errcode === undefined) return error as Error;
  const code = errcode & PRIMARY_CODE_MASK;
  if (DAMAGED.has(code)) return damaged(path, message, error);
  if (code === LOCKED) {
    return new LedgerFilesError(`Another process has the ledger ${path} open`, { cause: error });
  }
  if (TRANSIENT.has(code)) {
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
