import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { listFiles, ROOT } from '../tidy/sourceTree.ts';

/** A copy of the checkout in which one file at a time is another. */
export interface Workspace {
  write(path: string, source: string): void;
  /**
   * Runs test files up to the first failure.
   *
   * @returns whether they passed; what is still running after `timeoutMs` did not
   */
  passes(testFiles: readonly string[], timeoutMs: number): Promise<boolean>;
  /** Whether the copy has only sound types. */
  compiles(): Promise<boolean>;
  close(): void;
}

export function createWorkspace(): Workspace {
  const folder = mkdtempSync(join(tmpdir(), 'svc-mutants-'));
  for (const path of listFiles()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(ROOT, path), join(folder, path));
  }
  linkPackages(folder);
  const node = process.execPath;

  /** @returns the exit code, null for what was ended after `timeoutMs` */
  async function run(args: readonly string[], timeoutMs: number): Promise<number | null> {
    const child = spawn(node, args, {
      cwd: folder,
      stdio: 'ignore',
      detached: true,
      env: { ...process.env, RUST_LOG: 'off' },
    });
    // Its children too: what hangs may be one of them.
    const kill = (): void => {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    };
    const timer = setTimeout(kill, timeoutMs);
    process.once('exit', kill);
    const [code] = await once(child, 'exit');
    clearTimeout(timer);
    process.off('exit', kill);
    return code;
  }

  return {
    write: (path, source) => writeFileSync(join(folder, path), source),
    passes: async (testFiles, timeoutMs) =>
      (await run(
        [
          '--experimental-vm-modules',
          `--import=${join(folder, 'testing/jest/endWithRun.mjs')}`,
          join(ROOT, 'node_modules/jest/bin/jest.js'),
          ...['--bail', '--runInBand', '--forceExit', '--rootDir', folder],
          ...['--config', join(folder, 'jest.config.mjs')],
          ...testFiles.map((testFile) => `tests/${testFile}.test.ts`),
        ],
        timeoutMs,
      )) === 0,
    // A compiler that is late on a busy machine has refused nothing.
    compiles: async () =>
      [0, null].includes(
        await run([join(ROOT, 'node_modules/typescript/bin/tsc'), '--noEmit', '-p', '.'], 120_000),
      ),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The checkout's packages; links to its own workspaces lead into the copy. */
function linkPackages(folder: string): void {
  const from = join(ROOT, 'node_modules');
  const to = join(folder, 'node_modules');
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    const path = join(from, name);
    const target = lstatSync(path).isSymbolicLink() ? readlinkSync(path) : path;
    symlinkSync(isAbsolute(target) ? path : target, join(to, name));
  }
}
