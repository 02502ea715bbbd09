import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { rename, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What the examples import: the official client, and what a receiver of webhooks needs. */
const PACKAGES = {
  openai: '3.54.0',
  fastapi: '0.163.2',
  uvicorn: '0.54.0',
  standardwebhooks: '1.1.0',
};
const VERSIONS = Object.values(PACKAGES).join('-');
const VENV_TIMEOUT_MS = 60_000;
const INSTALL_TIMEOUT_MS = 180_000;

export type Python = { isReady: true; path: string } | { isReady: false; reason: string };

/** A Python that has the packages; made once, and kept among the system's temporary files. */
export async function preparePython(): Promise<Python> {
  const folder = join(tmpdir(), `svc-inference-python-${VERSIONS}`);
  const path = join(folder, 'bin/python');
  const find = async () => {
    const print =
      'import sys, importlib.metadata as found; print(*map(found.version, sys.argv[1:]))';
    const { stdout } = await run(path, ['-c', print, ...Object.keys(PACKAGES)]);
    const versions = stdout.trim().replaceAll(' ', '-');
    if (versions !== VERSIONS) throw new Error(`${folder} has ${versions}`);
    return { isReady: true as const, path };
  };
  try {
    return await find().catch(async () => {
      await install(folder);
      return find();
    });
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n');
    return { isReady: false, reason };
  }
}

/** Its place is a link, made last: an installation that was interrupted or replaced is never found. */
async function install(folder: string): Promise<void> {
  const installed = mkdtempSync(`${folder}-`);
  const timeout = VENV_TIMEOUT_MS;
  await run('python3', ['-m', 'venv', installed], { timeout });
  const pinned = Object.entries(PACKAGES).map(([name, version]) => `${name}==${version}`);
  const pip = ['-m', 'pip', 'install', '--quiet', ...pinned];
  await run(join(installed, 'bin/python'), pip, { timeout: INSTALL_TIMEOUT_MS });
  await symlink(installed, `${installed}.link`);
  await rename(`${installed}.link`, folder);
}
