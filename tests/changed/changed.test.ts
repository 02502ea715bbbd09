import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ownFolder } from '../../testing/ownFolder.ts';
import { ROOT } from '../tidy/sourceTree.ts';
import { selectTests } from './selectTests.ts';

/** A checkout with each way from a file to a test; its paths are none of this one. */
const FILES = {
  'api/pool/choice.ts': 'export const choose = (): number => 1;',
  'api/pool/health.ts': 'export const health = 1;',
  'api/order/send.ts': "import { choose } from '../pool/choice.ts';\nexport const send = choose;",
  'stack/start.ts': "import { send } from '../api/order/send.ts';\nexport const all = send;",
  'indexer/tables/1_jobs.sql': 'create table jobs ()',
  'indexer/tables.ts': "export const FOLDER = new URL('./tables/', import.meta.url);",
  'indexer/sums.ts': 'export const sums = 1;',
  'common/price/index.ts': "export { price } from './price.ts';\nexport * from './proof.ts';",
  'common/price/price.ts': 'export const price = 1;',
  'common/price/proof.ts': 'export const proof = 1;',
  'programs/price/lock.rs': 'fn lock() {}',
  'deploy/motd': 'Good morning.',
  'indexer/deep/rows.ts': "export { FOLDER } from '../tables.ts';",
  'testing/clock.ts': "export { sums as clock } from '../indexer/sums.ts';",
  'tests/api/choose.test.ts': "import { choose } from '../../api/pool/choice.ts';",
  'tests/api/clock.test.ts': "import { clock } from './clocks.ts';",
  'tests/api/clocks.ts': "export { clock } from '../../testing/clock.ts';",
  'tests/api/healthy.test.ts': "import { health } from '../../api/pool/health.ts';",
  'tests/api/send.test.ts': "import { send } from '../../api/order/send.ts';",
  'tests/api/type.test.ts': "import type { choose } from '../../api/pool/choice.ts';",
  'tests/auditors/audit.test.ts':
    "import { audit } from '../../auditors/gone.ts';\naudit('deploy/gone.txt');",
  'tests/docs/table.test.ts': "import { FOLDER } from '../../indexer/tables.ts';",
  'tests/indexer/rows.test.ts': "import { FOLDER } from '../../indexer/deep/rows.ts';",
  'tests/indexer/sums.test.ts': "import { sums } from '../../indexer/sums.ts';",
  'tests/indexer/tables.test.ts': "import { FOLDER } from '../../indexer/tables.ts';",
  'tests/journeys/whole.test.ts':
    "import { all } from '../../stack/start.ts';\nimport { sums } from '../../indexer/sums.ts';",
  'tests/programs/lock.test.ts': "import { price } from '../../common/price/index.ts';",
  'tests/programs/proven.test.ts': "import { proof } from '../../common/price/index.ts';",
  'package.json': '{ "jest": {}, "type": "module" }',
};

const root = ownFolder('svc-changed');

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), `${text}\n`);
};
const git = (...args: string[]) => execFileSync('git', args, { cwd: root });

beforeAll(() => {
  for (const [path, text] of Object.entries(FILES)) write(path, text);
  git('init', '--quiet');
  git('add', '.');
  const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
  git(...author, 'commit', '--quiet', '-m', 'one');
});

const select = (path: string, isAll = false) => selectTests({ root, changed: [path], isAll });

describe('the tests that are near to a changed file', () => {
  it('import a value of it, or something else of its folder', () => {
    expect([...select('api/pool/choice.ts').chosen]).toEqual([
      ['tests/api/choose.test.ts', 'uses api/pool/choice.ts'],
      ['tests/api/send.test.ts', 'uses api/pool/choice.ts through api/order/send.ts'],
      ['tests/api/healthy.test.ts', 'uses api/pool/'],
    ]);
  });

  it('leave out those through the service unless all are asked for', () => {
    expect(select('api/pool/choice.ts').leftOut).toBe(1);
    const { chosen, leftOut } = select('api/pool/choice.ts', true);
    expect([...chosen].at(-1)).toEqual([
      'tests/journeys/whole.test.ts',
      'reaches api/pool/choice.ts through the running service',
    ]);
    expect(leftOut).toBe(0);
  });

  it.each([
    ['import their names from an index before it', 'common/price/price.ts', ['programs/lock']],
    ['import other names from an index', 'common/price/proof.ts', ['programs/proven']],
    [
      'neither run the service nor reach it through testing alone',
      'indexer/sums.ts',
      ['indexer/sums', 'indexer/tables'],
    ],
    [
      'use what reads its folder, or are in its own and reach it, for SQL',
      'indexer/tables/1_jobs.sql',
      ['docs/table', 'indexer/tables', 'indexer/rows'],
    ],
    [
      'are all of the program, for Rust',
      'programs/price/lock.rs',
      ['programs/lock', 'programs/proven'],
    ],
    ['are the changed test itself', 'tests/api/type.test.ts', ['api/type']],
    [
      'are the one whose snapshots it has',
      'tests/api/__snapshots__/send.test.ts.snap',
      ['api/send'],
    ],
    ['import a helper, by helpers of their own too', 'testing/clock.ts', ['api/clock']],
    ['import a deleted file', 'auditors/gone.ts', ['auditors/audit']],
    ['name a deleted file', 'deploy/gone.txt', ['auditors/audit']],
    ['are none for a file that nothing knows', 'deploy/motd', []],
  ])('%s', (_, path, names) => {
    const { chosen, alone } = select(path);
    expect([...chosen.keys()]).toEqual(names.map((name) => `tests/${name}.test.ts`));
    expect(alone).toEqual(names.length === 0 ? [path] : []);
  });
});

it('a changed package.json concerns every test', () => {
  const tests = Object.keys(FILES).filter((path) => path.endsWith('.test.ts'));
  expect([...select('package.json', true).chosen.keys()].sort()).toEqual(tests.sort());
});

describe('npm test -- --changed', () => {
  const launch = (...args: string[]) =>
    spawnSync(process.execPath, [join(ROOT, 'tests/launch.mjs'), ...args], {
      cwd: root,
      encoding: 'utf8',
    });

  it('prints what it chose and why, and runs that', () => {
    write('api/pool/choice.ts', 'export const choose = (): number => 2;');
    write('deploy/notes', 'new');
    const { stdout, stderr } = launch('--changed', '--listTests');
    expect(stderr).toContain('tests/api/choose.test.ts  uses api/pool/choice.ts\n');
    expect(stderr).toContain('deploy/notes: no test is near to it\n');
    expect(stderr).toContain('changed: 2, chosen: 3, left to --changed=all: 1\n');
    const listed = ['choose', 'healthy', 'send'].map((name) => `tests/api/${name}.test.ts`);
    expect(
      stdout
        .split('\n')
        .flatMap((path) => /tests.*/.exec(path) ?? [])
        .sort(),
    ).toEqual(listed);
  });

  it('refuses what is no commit', () => {
    const { status, stderr } = launch('--changed', 'nowhere');
    expect(stderr).toContain('There is no commit "nowhere"');
    expect(status).toBe(1);
  });
});
