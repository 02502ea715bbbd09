import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes a file that only its owner may read, whole or not at all: what a process leaves that is
 * killed on the way is never taken for the file.
 */
export async function keepSecret(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const unfinished = `${path}.tmp`;
  // Its mode counts only where it is made anew.
  await rm(unfinished, { force: true });
  await writeFile(unfinished, text, { mode: 0o600 });
  await rename(unfinished, path);
}
