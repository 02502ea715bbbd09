import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { checkout } from '../../../programs/tools/artifacts.ts';

const SCRIPT = join(checkout, 'programs/tools/verify.ts');
/** Nothing is there. */
const NOWHERE = '/nowhere/rustc';

/** Runs the script where no compiler is. */
function verify(...args: string[]) {
  const env = { ...process.env, RUSTC: NOWHERE };
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], {
    env,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('npm run program:verify without the toolchain', () => {
  it('reports what is missing and that nothing is verified, with exit code 2', () => {
    const { status, stdout, stderr } = verify();

    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(
      `Cannot rebuild the artifacts, so nothing is verified: no ${NOWHERE} (apt-get install rustc-web rust-web-src)`,
    );
  });

  it('compares only the recorded hashes on request, and reports that', () => {
    expect(verify('--hashes-only')).toMatchObject({
      status: 0,
      stdout: 'The artifacts and their sources have the recorded hashes; nothing was rebuilt\n',
    });
  });

  it('refuses unknown options', () => {
    expect(verify('--hashes')).toMatchObject({ status: 1, stdout: '' });
  });
});
