import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';

const folder = new URL('../../bin/', import.meta.url);
const PAGES = fileURLToPath(new URL('buildConsole.mjs', folder));
const PACKAGES = fileURLToPath(new URL('buildPackages.mjs', folder));
/** A lower priority than every process that answers requests. */
const LOW_PRIORITY = 10;

/** A build of something that the API serves. */
interface Build {
  /** Resolves with the fault, or with undefined once everything is built. */
  fault: Promise<string | undefined>;
  /** Ends it; the files that are served stay whole. */
  stop(): Promise<void>;
}

/** Builds the pages of the web app where their sources have changed. */
export const startPagesBuild = (): Build => startBuild(PAGES);

/** Builds the packages where their sources have changed, at a low priority. */
export const startPackagesBuild = (): Build => startBuild(PACKAGES, LOW_PRIORITY);

/** @param priority as `os.setPriority` takes it */
function startBuild(script: string, priority?: number): Build {
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
    fault: closed.then(([code]) =>
      code === 0 ? undefined : complaint.trim() || `the build ended with ${code}`,
    ),
    async stop() {
      const isRunning = build.exitCode === null && build.signalCode === null;
      if (isRunning && build.pid) process.kill(-build.pid, 'SIGKILL');
      await closed;
    },
  };
}
