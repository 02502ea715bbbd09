import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../bin/buildConsole.mjs', import.meta.url));

/**
 * Builds the pages of the web app where their sources have changed.
 *
 * @returns what went wrong; undefined where the pages are there
 */
export async function buildPages(): Promise<string | undefined> {
  const build = spawn(process.execPath, [SCRIPT], { stdio: ['ignore', 'ignore', 'pipe'] });
  let complaint = '';
  build.stderr.on('data', (chunk) => {
    complaint += chunk;
  });
  const [code] = await once(build, 'close');
  return code === 0 ? undefined : complaint.trim() || `the build ended with ${code}`;
}
