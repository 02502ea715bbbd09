import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { artifactPath, changedSources, checkout } from '../../../programs/tools/artifacts.ts';

describe('the sources of the committed artifacts', () => {
  let copy: string;

  beforeEach(() => {
    copy = mkdtempSync(join(tmpdir(), 'sources-'));
    for (const part of ['Cargo.lock', 'Cargo.toml', 'programs']) {
      cpSync(join(checkout, part), join(copy, part), { recursive: true });
    }
  });
  afterEach(() => rmSync(copy, { recursive: true }));

  it('match the recorded hashes of the build', () => {
    expect(changedSources(checkout)).toEqual([]);
    expect(changedSources(copy)).toEqual([]);
  });

  it('are named when one was changed, added or removed since', () => {
    const [lock, added, removed] = [
      'Cargo.lock',
      'programs/escrow/src/state/added.rs',
      'programs/escrow/src/state/pricing.rs',
    ];
    writeFileSync(join(copy, lock), '\n', { flag: 'a' });
    writeFileSync(join(copy, added), '');
    rmSync(join(copy, removed));
    expect(changedSources(copy)).toEqual([lock, added, removed]);
  });
});

it('the committed binaries name no syscall that a ledger may lack', () => {
  // A build of the older format has the names of what it calls.
  const names = readFileSync(artifactPath('escrow', 'v0')).toString('latin1');
  expect(names).toContain('sol_sha256');
  expect(names).not.toContain('sol_sha512');
});
