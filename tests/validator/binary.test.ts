import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import { findValidator } from './binary.ts';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'svc-validator-binary-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A program that is no validator. */
function place(...path: string[]): string {
  const file = join(folder, ...path, 'solana-test-validator');
  mkdirSync(join(folder, ...path), { recursive: true });
  writeFileSync(file, '#!/bin/sh\necho "it has no option $1" >&2\nexit 1\n', { mode: 0o755 });
  return file;
}

async function run(environment: Record<string, string>) {
  const child = spawn(process.execPath, [MAIN], { env: environment });
  const [error, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { error, code };
}

const nowhere = { PATH: join(folder, 'none'), XDG_CACHE_HOME: join(folder, 'none') };

describe('npm run test:validator', () => {
  it('says by one command how to build the validator where there is none', async () => {
    const { error, code } = await run(nowhere);
    expect(code).toBe(2);
    const [command = ''] = /^sudo apt-get .*$/m.exec(error) ?? [];
    expect(command).toContain(' libclang-dev clang protobuf-compiler libudev-dev ');
    expect(command).toMatch(
      /&& cargo install agave-validator --version 4\.2\.2 --bin solana-test-validator --locked --root /,
    );
    expect(command.endsWith(join(folder, 'none', 'svc-inference', 'agave-4.2.2'))).toBe(true);
  });

  it('takes the named validator, then that of PATH, then that of the cache', () => {
    const cached = place('cache', 'svc-inference', 'agave-4.2.2', 'bin');
    const inCache = { ...nowhere, XDG_CACHE_HOME: join(folder, 'cache') };
    expect(findValidator(nowhere)).toBeUndefined();
    expect(findValidator(inCache)).toBe(cached);
    const onPath = place('path');
    const both = { ...inCache, PATH: `${nowhere.PATH}:${join(folder, 'path')}` };
    expect(findValidator(both)).toBe(onPath);
    const named = place('named');
    expect(findValidator({ ...both, SOLANA_TEST_VALIDATOR: named })).toBe(named);
    const missing = { ...both, SOLANA_TEST_VALIDATOR: join(folder, 'missing') };
    expect(() => findValidator(missing)).toThrow('SOLANA_TEST_VALIDATOR');
  });

  it('gives the words of one that does not start', async () => {
    const { error, code } = await run({ ...nowhere, SOLANA_TEST_VALIDATOR: place('broken') });
    expect(code).toBe(1);
    expect(error).toContain('it has no option --ledger');
  });
});
