import { readFileSync } from 'node:fs';
import { join } from 'node:path';
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

/**
 * Lists the licence of every package that the service or a published package brings along.
 *
 * @returns whether each is one that is accepted here
 */
export function checkLicences() {
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
