import { spawnSync } from 'node:child_process';
import { mkdtempSync, renameSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What the examples import: the official client, and what a receiver of webhooks needs. */
const PACKAGES = {
  openai: '3.54.0',
  fastapi: '0.163.2',
  uvicorn: '0.54.0',
  standardwebhooks: '1.1.0',
};
const VERSIONS = Object.values(PACKAGES).join('-');
const INSTALL_TIMEOUT_MS = 180_000;
const PRINT_VERSIONS =
  'import sys, importlib.metadata as found; print(*map(found.version, sys.argv[1:]))';

const folder = join(tmpdir(), `svc-inference-python-${VERSIONS}`);

/** The Python that has them, once `installPackages` has succeeded. */
export const PYTHON_WITH_PACKAGES = join(folder, 'bin/python');

/**
 * Makes a Python that has the packages, kept among the system's temporary files.
 *
 * @param machinePath where the machine has its programs
 * @returns whether there is one; not without a Python, its venv, or the packages' index
 */
export function installPackages(machinePath: string): boolean {
  const run = (command: string, ...args: string[]) =>
    spawnSync(command, args, {
      encoding: 'utf8',
      timeout: INSTALL_TIMEOUT_MS,
      env: { ...process.env, PATH: machinePath },
    });
  const isThere = () => {
    const { stdout } = run(PYTHON_WITH_PACKAGES, '-c', PRINT_VERSIONS, ...Object.keys(PACKAGES));
    return stdout?.trim().replaceAll(' ', '-') === VERSIONS;
  };
  if (isThere()) return true;
  const installed = mkdtempSync(`${folder}-`);
  if (run('python3', '-m', 'venv', installed).status !== 0) return false;
  const pinned = Object.entries(PACKAGES).map(([name, version]) => `${name}==${version}`);
  const pip = ['-m', 'pip', 'install', '--quiet', ...pinned];
  if (run(join(installed, 'bin/python'), ...pip).status !== 0) return false;
  // Its place is a link, made last: one that was interrupted or replaced is never found.
  symlinkSync(installed, `${installed}.link`);
  renameSync(`${installed}.link`, folder);
  return isThere();
}
