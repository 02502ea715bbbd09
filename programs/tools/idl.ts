import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderAnchorType } from './idl/renderAnchorType.ts';
import { renderIdl } from './idl/renderIdl.ts';
import { renderInstructions } from './idl/renderInstructions.ts';
import { renderConstants, renderTypes, renderVocabulary } from './idl/renderTypeScript.ts';
import { readSource } from './idl/source.ts';

/**
 * Writes programs/client/idl.json and programs/client/generated from the Rust source.
 * With `--check` it writes nothing and fails when a committed file differs.
 */

const programs = join(import.meta.dirname, '..');
const manifest = readFileSync(join(programs, 'escrow/Cargo.toml'), 'utf8');
const version = /^version = "(.+)"$/m.exec(manifest)?.[1];
if (version === undefined) throw new Error('programs/escrow/Cargo.toml names no version');

const source = readSource(join(programs, 'escrow/src'));
const idl = renderIdl(source, version);
const files = {
  'client/idl.json': idl,
  'client/generated/anchorType.ts': renderAnchorType(idl),
  'client/generated/constants.ts': renderConstants(source),
  'client/generated/instructions.ts': renderInstructions(source),
  'client/generated/types.ts': renderTypes(source),
  'client/generated/vocabulary.ts': renderVocabulary(source),
};

mkdirSync(join(programs, 'client/generated'), { recursive: true });
for (const [name, content] of Object.entries(files)) {
  const path = join(programs, name);
  if (!process.argv.includes('--check')) writeFileSync(path, content);
  else if (readFileSync(path, 'utf8') !== content) {
    throw new Error(`programs/${name} differs from the Rust source: run npm run generate`);
  }
}
