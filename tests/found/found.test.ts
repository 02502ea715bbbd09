import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ROOT } from '../tidy/sourceTree.ts';
import { refusalOf } from './refusal.ts';

const tests = ['tests/api/lock.test.ts', 'tests/cli/send.test.ts', 'tests/cli/main.test.ts'];
const refuse = (given: object) => refusalOf({ _: [], ...given } as never, { root: ROOT, tests });

describe('what npm test is given', () => {
  it.each([[[]], [['./tests/api', 'Lock']], [[join(ROOT, 'tests/cli')]]])(
    'finds tests by %j',
    (paths) => expect(refuse({ _: paths })).toBeUndefined(),
  );

  it.each([
    ['tests/api/lok.test.ts', 'The nearest is tests/api/lock.test.ts.'],
    ['tests/apis', 'The nearest is tests/api.'],
    ['sent', 'The nearest is tests/cli/send.test.ts.'],
    [
      'api/ledger/lockOnLedger.ts',
      'The tests of api/ledger/lockOnLedger.ts are in tests/api: npm test -- --changed chooses among them.',
    ],
  ])('is refused with the nearest: %s', (path, words) => {
    const refusal = `No test file matches ${path}. ${words}`;
    expect(refuse({ _: ['tests/api', path] })).toBe(refusal);
    expect(refuse({ testPathPatterns: [path] })).toBe(refusal);
  });

  it.each(['onlyChanged', 'watch'])(
    'is refused with --%s, by which jest finds nothing here',
    (flag) => expect(refuse({ [flag]: true })).toContain('npm test -- --changed'),
  );
});

describe('npm test', () => {
  const launch = (...args: string[]) =>
    spawnSync(process.execPath, [join(ROOT, 'tests/launch.mjs'), ...args], {
      cwd: ROOT,
      encoding: 'utf8',
    });

  it('fails for a path without a test, before any test runs', () => {
    const { status, stderr, stdout } = launch('tests/common', 'tests/comon');
    expect(stderr).toBe('No test file matches tests/comon. The nearest is tests/common.\n');
    expect(stdout).toBe('');
    expect(status).toBe(1);
  });

  it.each([
    ['the sum over no rows at all', 'None of the other files has one.'],
    ['fails for a path without', 'One in tests/found does.'],
  ])('fails for a title that no test has: %s', (title, words) => {
    const file = 'tests/common/reasonOf.test.ts';
    const { status, stderr } = launch(file, '-w', '1', '-t', title);
    expect(stderr).toContain(`No title in ${file} matches ${title}. ${words}`);
    expect(status).toBe(1);
  });
});
