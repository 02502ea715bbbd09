import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';

const folder = new URL('../../bin/', import.meta.url);
const PAGES = fileURLToPath(new URL('buildConsole.mjs', folder));
const PACKAGES = fileURLToPath(new URL('buildPackages.mjs', folder));
/** A lower priority than every process that answers requests. */
const LOW_PRIORITY = 10;

/** Builds the pages of the web app where their sources have changed. */
export const startPagesBuild = () => startBuild(PAGES);

/** Builds the packages where their sources have changed, at a low priority. */
export const startPackagesBuild = () => startBuild(PACKAGES, LOW_PRIORITY);

/** Builds something that the API serves. @param priority as `os.setPriority` takes it */
function startBuild(script: string, priority?: number) {
  // A group of its own: what it runs, a compiler and npm, ends with it.
  const build = spawn(process.execPath, [script], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  if (priority && build.pid) setPriority(build.pid, priority);
  let complaint = '';
  build.stderr.on('data', (chunk) => {
    complaint += chunk;
  });
  const closed = once(build, 'close');
  return {
    /** Its process; undefined where none could be started. */
    id: build.pid,
    /** Resolves with the fault, or with undefined once everything is built. */
    fault: closed.then(
      ([code]): string | undefined =>
        code === 0 ? undefined : complaint.trim() || `the build ended with ${code}`,
      (error: Error) => error.message,
    ),
    /** Ends it; the files that are served stay whole. */
    async stop(): Promise<void> {
      const isRunning = build.exitCode === null && build.signalCode === null;
      if (isRunning && build.pid) process.kill(-build.pid, 'SIGKILL');
      await closed;
    },
  };
}
