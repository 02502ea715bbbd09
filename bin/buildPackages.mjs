// Builds the packages that others install into dist/packages, unless they were built from the same
// sources, and packs them. `npm start` and `npm run build` run it. Each package's `dist` mirrors the
// checkout's folders, so that files read at run time are found at the same place relative to the code.
// With a folder as its argument it always builds, into that one.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { makeFolder } from './builtFolder.mjs';
import { BUILT, PACKAGES } from './packages.ts';
import { root } from './pinnedNode.mjs';

/** Every folder that an import may lead to. */
const SOURCES = [
  ...['api', 'bin', 'cli', 'common', 'indexer', 'localnet', 'programs', 'stack', 'testing'],
  ...['webhookOperations', 'webhooks', 'worker', 'tsconfig.json', 'tsconfig.build.json', 'LICENSE'],
];
/** How much of the sha512 is in a tarball's name: npx never asks an address again. */
const HASH_DIGITS = 16;

const [, , target] = process.argv;
if (target) await build(resolve(target));
// A copy that only runs the service has no compiler, and keeps what was built for it.
else if (existsSync(join(root, 'node_modules/typescript'))) {
  await makeFolder({ built: BUILT, sources: SOURCES, build });
}

async function build(built) {
  // A tarball holds the modes of its files, and its name the hash of them.
  process.umask(0o022);
  const { assemblePackage } = await import('./assemblePackage.mjs');
  const { bundle } = await import('./vendor.mjs');
  const compiled = join(built, '.compiled');
  const compiler = join(root, 'node_modules/.bin/tsc');
  run(compiler, ['-p', join(root, 'tsconfig.build.json'), '--outDir', compiled]);
  for (const key of Object.keys(PACKAGES)) {
    await assemblePackage(join(built, key), { key, compiled, bundle });
  }
  rmSync(compiled, { recursive: true });
  packAll(built);
}

/** Writes the tarballs and the list of them. */
function packAll(built) {
  const tarballs = join(built, 'tarballs');
  mkdirSync(tarballs, { recursive: true });
  const args = ['pack', '--json', '--pack-destination', tarballs];
  const npm = process.env.npm_execpath ?? '';
  const keys = Object.keys(PACKAGES);
  const folders = keys.map((key) => join(built, key));
  const packed = JSON.parse(
    basename(npm) === 'npm-cli.js'
      ? run(process.execPath, [npm, ...args, ...folders])
      : run('npm', [...args, ...folders]),
  );
  const list = packed.map(({ name, version, filename, size, integrity }, index) => {
    const hash = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
    const file = `${keys[index]}-${version}-${hash.slice(0, HASH_DIGITS)}.tgz`;
    renameSync(join(tarballs, filename), join(tarballs, file));
    return { key: keys[index], name, version, file, bytes: size, integrity };
  });
  writeFileSync(join(tarballs, 'index.json'), `${JSON.stringify(list, undefined, 2)}\n`);
}

/** @returns what it printed */
function run(file, args) {
  const { status, stdout, error } = spawnSync(file, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status === 0) return stdout;
  throw new Error(`${basename(file)} ended with ${status ?? error?.message}: ${stdout}`);
}
