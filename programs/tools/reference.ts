/**
 * Writes docs/instructions: a page for every instruction, and the accounts, events and errors. All
 * of it comes from programs/client/idl.json and the measured compute units.
 * With `--check` it writes nothing and fails when a committed page differs.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderReference } from './referencePages.ts';

const programs = join(import.meta.dirname, '..');
const folder = join(programs, '../docs/instructions');
const read = (path: string): string => readFileSync(join(programs, path), 'utf8');
const pages = renderReference({
  idl: JSON.parse(read('client/idl.json')),
  computeUnits: JSON.parse(read('escrow/compute-units.json')),
});

mkdirSync(folder, { recursive: true });
const isCheck = process.argv.includes('--check');
for (const file of readdirSync(folder)) {
  if (pages.has(file)) continue;
  if (isCheck) throw new Error(`docs/instructions/${file} describes nothing that exists`);
  rmSync(join(folder, file));
}
for (const [file, content] of pages) {
  const path = join(folder, file);
  if (!isCheck) writeFileSync(path, content);
  else if (readFileSync(path, 'utf8') !== content) {
    throw new Error(`docs/instructions/${file} is not current: run npm run generate`);
  }
}
