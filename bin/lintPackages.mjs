// `npm run lint:packages`: what publint and attw ("are the types wrong?") say of the built packages, and
// the licence of every dependency. Anything they say fails, suggestions too. `-- types` and
// `-- licences` check one of both.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { BUILT, PACKAGES } from './packages.ts';
import { root } from './pinnedNode.mjs';

const ACCEPTED = new Set([
  ...['MIT', 'ISC', 'Apache-2.0', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0'],
  ...['(MIT OR Apache-2.0)', '(MIT OR CC0-1.0)', '(MIT AND Zlib)'],
]);
/** Licences that are not in ACCEPTED, or that only the package's files name, and why we accept them. */
const EXAMINED = {
  'rpc-websockets': 'LGPL-3.0-only: installed as it is and replaceable, never bundled',
  eyes: 'MIT, by its LICENSE',
  'text-encoding-utf-8': 'public domain (Unlicense), by its LICENSE.md',
};

const CHECKS = { types: lintPackages, licences: checkLicences };

const checks = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(CHECKS);
for (const name of checks) {
  if (CHECKS[name] === undefined)
    throw new Error(`There is no check ${name}: name types or licences`);
  if (!(await CHECKS[name]())) process.exitCode = 1;
}

/** @returns whether nothing is to say of any package */
async function lintPackages() {
  let passes = true;
  for (const name of Object.keys(PACKAGES)) {
    const folder = join(BUILT, name);
    const description = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const { messages } = await publint({ pkgDir: folder, pack: 'npm' });
    const findings = messages.map((message) =>
      formatMessage(message, description, { color: false }),
    );
    const wrongTypes = checkTypes(folder, description);
    if (wrongTypes) findings.push(wrongTypes);
    if (findings.length > 0) passes = false;
    process.stdout.write(
      [`${name}: ${findings.length || 'no'} findings`, ...findings, ''].join('\n'),
    );
  }
  return passes;
}

/** What attw prints of a package whose types some resolution cannot find; undefined for none. */
function checkTypes(folder, { exports, main }) {
  // Neither a program's binary nor a package's description has types.
  const untyped = Object.keys(exports).filter((path) => !/^\.(\/\w+)?$|\.json$/.test(path));
  const { status, stdout, stderr } = spawnSync(
    join(root, 'node_modules/.bin/attw'),
    [
      ...['--pack', folder, '--profile', main ? 'strict' : 'esm-only', '--no-color', '--no-emoji'],
      ...(untyped.length > 0 ? ['--exclude-entrypoints', ...untyped] : []),
    ],
    { encoding: 'utf8' },
  );
  return status === 0 ? undefined : `${stdout}${stderr}`;
}

/**
 * Lists the licence of every package that the service or a published package brings along.
 *
 * @returns whether each is one that is accepted here
 */
function checkLicences() {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const installed = Object.entries(packages)
    .filter(([path, { dev, link }]) => path.includes('node_modules/') && !dev && !link)
    .map(([path, { version, license }]) => {
      const name = path.split('node_modules/').at(-1);
      return { name, version, license };
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const { name, version, license } of installed) {
    process.stdout.write(`${name} ${version}: ${EXAMINED[name] ?? license}\n`);
  }
  const refused = installed.filter(
    ({ name, license }) => !EXAMINED[name] && !ACCEPTED.has(license),
  );
  for (const { name, license } of refused) {
    process.stderr.write(`${name}: the licence ${license ?? '(none)'} is not accepted\n`);
  }
  return refused.length === 0;
}
