// Plain JavaScript for any Node since 18: this runs before the install that brings the pinned one.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of package.json, in a checkout as in an installed package. */
export const root = fileURLToPath(new URL('..', import.meta.url));

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_CHECK_INTERVAL_MS = 500;
const SIGNAL_EXIT_BASE = 128;
/** The oldest Node without npm's warnings; the start itself runs on older ones. */
const OLDEST_MAJOR = 22;

/** Whether something is installed, and package-lock.json has not changed since. */
export function isInstalled() {
  const installed = statSync(join(root, 'node_modules/.package-lock.json'), {
    throwIfNoEntry: false,
  });
  const { mtimeMs } = statSync(join(root, 'package-lock.json'));
  return installed !== undefined && installed.mtimeMs >= mtimeMs;
}

/** Installs what the lockfile says, where it is not installed. */
export function installIfNeeded() {
  if (isInstalled()) return;
  // In place of npm's warnings, a line for each package that wants a newer one: .npmrc silences them.
  const [major] = process.versions.node.split('.');
  const own =
    Number(major) < OLDEST_MAJOR
      ? `, and the Node 24 that they need, since this is ${process.version}`
      : '';
  process.stderr.write(
    `Installing the dependencies${own} (once: 1 GB, in one to a few minutes) …\n`,
  );
  const npm = process.env.npm_execpath ?? '';
  // Not `npm ci`: that would remove all that is installed first, where a package or two have changed.
  const args = ['install', '--no-save', '--include=dev', '--no-audit', '--no-fund'];
  // The npm that runs this script, so that its version and settings stay the user's own.
  const { status, error } =
    basename(npm) === 'npm-cli.js'
      ? spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: 'inherit' })
      : spawnSync('npm', args, { cwd: root, stdio: 'inherit' });
  if (status === 0) return;
  fail(`The install failed${error ? `: ${error.message}` : ', see the lines above'}.`);
}

/**
 * Runs the pinned Node with these arguments in this process's place: same terminal, signals passed
 * on, same exit code.
 *
 * @param {string[]} args
 * @param {{ endsWithParent?: boolean }} [options] endsWithParent: the child gets this process's id and
 *   ends when this process is killed. This one passes SIGTERM on when the npm that ran it is gone,
 *   since npm cannot pass on a SIGKILL
 */
export function runPinnedNode(args, { endsWithParent = false } = {}) {
  const child = spawn(findPinnedNode(), args, {
    stdio: 'inherit',
    env: {
      // Types are stripped and sources compiled once, not at every start of every process.
      NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled'),
      ...process.env,
      ...(endsWithParent && { SVC_PARENT_PID: `${process.pid}` }),
    },
  });
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  if (endsWithParent && process.env.npm_lifecycle_event) {
    const parentId = process.ppid;
    setInterval(() => process.ppid !== parentId && child.kill(), PARENT_CHECK_INTERVAL_MS).unref();
  }
  child.once('error', (error) => fail(`Node could not be started: ${error.message}`));
  child.once('exit', (code, signal) => {
    process.exit(code ?? SIGNAL_EXIT_BASE + (signal === 'SIGINT' ? 2 : 15));
  });
}

function findPinnedNode() {
  const require = createRequire(import.meta.url);
  try {
    const node = join(dirname(require.resolve('node/package.json')), 'bin/node');
    if (existsSync(node)) return node;
  } catch {
    // The package is missing: the same advice helps.
  }
  return fail(
    'The pinned Node 24 is missing, because its install script did not run. ' +
      'Allow it with: npm rebuild --ignore-scripts=false',
  );
}

/** Ends the process with a message that says what to do. @param {string} message */
export function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
