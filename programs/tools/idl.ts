import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderIdl, renderTypes } from './idl/render.ts';
import { readSource } from './idl/source.ts';

/**
 * Writes programs/client/idl.json and programs/client/types.ts from the Rust source.
 * With `--check` it writes nothing and fails when a committed file differs.
 */

const programs = join(import.meta.dirname, '..');
const manifest = readFileSync(join(programs, 'escrow/Cargo.toml'), 'utf8');
const version = /^version = "(.+)"$/m.exec(manifest)?.[1];
if (version === undefined) throw new Error('programs/escrow/Cargo.toml names no version');

const source = readSource(join(programs, 'escrow/src'));
const files = {
  'client/idl.json': renderIdl(source, version),
  'client/types.ts': renderTypes(source),
};

for (const [name, content] of Object.entries(files)) {
  const path = join(programs, name);
  if (!process.argv.includes('--check')) writeFileSync(path, content);
  else if (readFileSync(path, 'utf8') !== content) {
    throw new Error(`programs/${name} differs from the Rust source: run programs/tools/idl.ts`);
  }
}
