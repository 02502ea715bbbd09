import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const VERSION = '3.54.0';
const VENV_TIMEOUT_MS = 60_000;
const INSTALL_TIMEOUT_MS = 180_000;

export type Python = { isReady: true; path: string } | { isReady: false; reason: string };

/** A Python that has the official client; made once, and kept among the system's temporary files. */
export async function preparePython(): Promise<Python> {
  const folder = join(tmpdir(), `svc-inference-python-openai-${VERSION}`);
  const path = join(folder, 'bin/python');
  const find = async () => {
    const print = 'import openai; print(openai.__version__)';
    const { stdout } = await run(path, ['-c', print]);
    if (stdout.trim() !== VERSION) throw new Error(`${folder} has openai ${stdout}`);
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

/** Beside its place first, so that an interrupted installation is never found there. */
async function install(folder: string): Promise<void> {
  const unfinished = mkdtempSync(`${folder}-`);
  const timeout = VENV_TIMEOUT_MS;
  await run('python3', ['-m', 'venv', unfinished], { timeout });
  const pip = ['-m', 'pip', 'install', '--quiet', `openai==${VERSION}`];
  await run(join(unfinished, 'bin/python'), pip, { timeout: INSTALL_TIMEOUT_MS });
  await rm(folder, { recursive: true, force: true });
  await rename(unfinished, folder);
}
