// `npm run build`: makes what the API serves, the pages of the web app and the packages, and prints
// the packages' tarballs with their sha512. `-- console` makes the pages alone.
import './buildConsole.mjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TARBALLS } from './packages.ts';

const [, , part] = process.argv;
if (part === undefined) {
  await import('./buildPackages.mjs');
  const index = JSON.parse(readFileSync(join(TARBALLS, 'index.json'), 'utf8'));
  for (const { file, integrity } of index) process.stdout.write(`${file}  ${integrity}\n`);
} else if (part !== 'console') {
  process.stderr.write('Name no part, or console: npm run build -- console\n');
  process.exitCode = 2;
}
