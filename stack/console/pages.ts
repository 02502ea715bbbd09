import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../bin/buildConsole.mjs', import.meta.url));

/** The build of the web app's pages. */
interface PagesBuild {
  /** Resolves with what went wrong; with undefined where the pages are there. */
  fault: Promise<string | undefined>;
  /** Ends it; what is served stays whole. */
  stop(): Promise<void>;
}

/** Builds the pages where their sources have changed. */
export function startPagesBuild(): PagesBuild {
  const build = spawn(process.execPath, [SCRIPT], { stdio: ['ignore', 'ignore', 'pipe'] });
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
      build.kill('SIGKILL');
      await closed;
    },
  };
}
