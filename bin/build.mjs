// `npm run build`: makes what the API serves, the pages of the web app and the packages, and prints
// the packages' tarballs with their sha512.
import './buildConsole.mjs';
import './buildPackages.mjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TARBALLS } from './packages.ts';

for (const { file, integrity } of JSON.parse(readFileSync(join(TARBALLS, 'index.json'), 'utf8'))) {
  process.stdout.write(`${file}  ${integrity}\n`);
}
