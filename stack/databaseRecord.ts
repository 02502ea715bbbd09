import { existsSync, readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import { StackError } from './config.ts';
import { writeSecret } from './stackFile.ts';

// The processes of a killed stack end by themselves. Only PostgreSQL does not, if its watching process
// was killed, too. So the path of its data is recorded.

const END_TIMEOUT_MS = 5_000;
const POLL_MS = 50;
/** A server that listens answers within this time, however busy the machine is. */
const CONNECT_TIMEOUT_MS = 60_000;
/** Errors that show that this server is not there, or is another one. */
const ABSENT = /^(ECONNREFUSED|ECONNRESET|ENOENT|28|3D)/;
/** The SQLSTATE of a server that is starting or ending. */
const STARTING_OR_ENDING = '57P03';

const recordSchema = z.object({
  databaseUrl: z.string(),
  directory: z.string(),
  isKept: z.boolean(),
});

const pathIn = (folder: string) => join(folder, 'database.json');

/**
 * Records the path of the embedded database's data, until `removeLeftoverDatabase`.
 *
 * @param database.isKept whether the data stays after the stack ends
 */
export async function recordDatabase(
  folder: string,
  database: { databaseUrl: string; isKept: boolean },
): Promise<void> {
  const directory = await readDirectory(database.databaseUrl, CONNECT_TIMEOUT_MS);
  const record = JSON.stringify({ ...database, directory });
  await writeSecret(pathIn(folder), record);
}

/**
 * Ends the recorded database of this folder if it still runs, because the process that held it was
 * killed. Then deletes its data unless that is kept, and the record.
 *
 * @throws StackError where it is unknown whether it runs; then its data stays
 */
export async function removeLeftoverDatabase(
  folder: string,
  { connectTimeoutMs = CONNECT_TIMEOUT_MS } = {},
): Promise<void> {
  if (!existsSync(pathIn(folder))) return;
  const text = await readFile(pathIn(folder), 'utf8');
  const { databaseUrl, directory, isKept } = recordSchema.parse(JSON.parse(text));
  // The server itself confirms its path, because another process may have the recorded id by now.
  if (await isRunning({ databaseUrl, directory }, connectTimeoutMs)) await endServer(directory);
  if (!isKept) await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  await rm(pathIn(folder), { force: true });
}

/** Whether the server at an address has this data. @throws StackError where it does not answer */
async function isRunning(
  { databaseUrl, directory }: { databaseUrl: string; directory: string },
  timeoutMs: number,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return (await readDirectory(databaseUrl, timeoutMs)) === directory;
    } catch (error) {
      const { code = '', message } = error as { code?: string; message: string };
      if (ABSENT.test(code)) return false;
      if (code !== STARTING_OR_ENDING || performance.now() > deadline) {
        throw new StackError(
          `The database of an earlier start does not answer (${message}). End its postgres process, then start again.`,
        );
      }
      await delay(POLL_MS);
    }
  }
}

async function readDirectory(databaseUrl: string, timeoutMs: number): Promise<string> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    connectionTimeoutMillis: timeoutMs,
  });
  try {
    await client.connect();
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    const [row] = rows;
    if (!row) throw new Error('the database does not return the path of its data');
    return row.data_directory;
  } finally {
    await client.end();
  }
}

/** PostgreSQL removes the file with its process id last. */
async function endServer(directory: string): Promise<void> {
  const idPath = join(directory, 'postmaster.pid');
  process.kill(Number.parseInt(readFileSync(idPath, 'utf8'), 10), 'SIGINT');
  const deadline = performance.now() + END_TIMEOUT_MS;
  while (existsSync(idPath)) {
    if (performance.now() > deadline) throw new Error(`PostgreSQL in ${directory} does not end`);
    await delay(POLL_MS);
  }
}
