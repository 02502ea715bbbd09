import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, NEEDED } from './tools.ts';

/** Of one run: its processes have one parent, which removes it. */
export const programFoldersOf = (runId: number): string => join(tmpdir(), `svc-programs-${runId}`);

let folder: string | undefined;
const added = new Set<string>();

/**
 * A folder with the programs that every test may start, and no others, for use as PATH. A test that
 * starts another one without asking fails on every machine, not on the next one alone. What the test
 * file before has asked for is gone.
 */
export function openProgramFolder(): string {
  folder ??= createFolder();
  for (const name of added) rmSync(join(folder, name));
  added.clear();
  return folder;
}

function createFolder(): string {
  const runId = process.channel ? process.ppid : process.pid;
  const made = join(programFoldersOf(runId), String(process.pid));
  mkdirSync(made, { recursive: true });
  // Tests start programs as other users, too: no umask may hide the folder from them.
  for (const each of [programFoldersOf(runId), made]) chmodSync(each, 0o755);
  for (const name of NEEDED) {
    const path = findProgram(name);
    if (path !== undefined) symlinkSync(path, join(made, name));
  }
  return made;
}

/** Adds a program for the test file that runs. Its own path stays in it: some look beside themselves. */
export function addProgram(name: string, path: string): void {
  if (folder === undefined) return;
  const script = join(folder, name);
  writeFileSync(script, `#!/bin/sh\nexec '${path}' "$@"\n`);
  chmodSync(script, 0o755);
  added.add(name);
}
