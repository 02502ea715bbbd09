import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type InstalledProject, installPacked } from './installedProject.ts';
import { checkout, PACKAGE_NAMES } from './packing.ts';

// Builds, packs and compiles everything, on a machine that may run other tests besides.
jest.setTimeout(600_000);

const EXPECTED = [
  /^(README\.md|LICENSE|package\.json|svc\.mjs)$/,
  /^dist\/.+\.(js|d\.ts)$/,
  /^dist\/vendor\/LICENSES\.txt$/,
  /^dist\/programs\/(client\/idl\.json|escrow\/artifacts\/.+)$/,
];
/** A package's name, without the module in it. */
const IMPORTED =
  /(?:from |import\(|import |require\((?:\w+ \?\? )?)['"](?!node:)((?:@[a-z][\w.-]*\/)?[a-z][\w.-]*)[^'"]*['"]/g;
const COMMENT_LINE = /^\s*(\/?\*|\/\/).*$/gm;
/**
 * LiteSVM's native part is named by the platform, and comes with it where that is installed. The
 * others make parts of web3.js faster, which svc contains.
 */
const OPTIONAL = ['litesvm', 'bufferutil', 'utf-8-validate', 'encoding'];
const UNPACKED_BYTES_MAX = 50_000;

const IN_BANKRUN = `
  import { startEscrow } from 'svc-testing';
  const escrow = await startEscrow({ ledger: 'bankrun' });
  const job = await escrow.lock();
  console.log((await escrow.job(job)).lockedCredits);
`;

const inBankrun = ['--input-type=module', '-e', IN_BANKRUN];

const folder = mkdtempSync(join(tmpdir(), 'svc-project-'));
let project: InstalledProject;

beforeAll(async () => {
  project = await installPacked(folder, ['tests/package/consumer.ts', 'examples/disputeJob.ts']);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(PACKAGE_NAMES)('the packed package %s', (name) => {
  it('contains its code and documents, and nothing else', () => {
    const packed = project.packed[name];
    expect(packed).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'package.json']));
    expect(packed.filter((path) => !EXPECTED.some((kind) => kind.test(path)))).toEqual([]);
  });

  it('contains no path of the build machine', () => {
    const naming = project.packed[name].filter((path) => {
      const text = readFileSync(join(project.installed(name), path), 'latin1');
      return text.includes(checkout) || text.includes('sourceMappingURL');
    });
    expect(naming).toEqual([]);
  });

  it('depends on exactly what its code imports', () => {
    const { dependencies = {}, peerDependencies = {} } = JSON.parse(
      readFileSync(join(project.installed(name), 'package.json'), 'utf8'),
    );
    const imported = new Set<string>();
    for (const path of project.packed[name].filter((file) => /\.(js|d\.ts)$/.test(file))) {
      const text = readFileSync(join(project.installed(name), path), 'utf8');
      const code = text.replaceAll(COMMENT_LINE, '');
      for (const [, module = ''] of code.matchAll(IMPORTED)) imported.add(module);
    }
    const others = [...builtinModules, ...(name === 'svc' ? OPTIONAL : [])];
    for (const other of others) imported.delete(other);
    expect([...imported].sort()).toEqual(
      Object.keys({ ...dependencies, ...peerDependencies }).sort(),
    );
  });
});

describe('svc-webhooks', () => {
  it('has no dependency and less than 50 kB', () => {
    const sizes = project.packed['svc-webhooks'].map(
      (path) => statSync(join(project.installed('svc-webhooks'), path)).size,
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(UNPACKED_BYTES_MAX);
  });
});

describe('the packages together', () => {
  it('type-check in a strict project, libraries included', async () => {
    const compiler = join(checkout, 'node_modules/.bin/tsc');
    expect(await project.run(compiler, ['-p', folder])).toBe('');
  });

  it('run in plain Node: a job in LiteSVM, a webhook, Anchor on the IDL', async () => {
    expect(JSON.parse(await project.run('node', ['consumer.ts']))).toEqual({
      status: 'settled',
      decoded: 'Job',
      refusal: 'WrongJobStatus',
      builds: true,
      isElf: true,
      anchor: 'job_refund',
      instructions: 37,
      threshold: 100,
    });
  });

  it('run a job in solana-bankrun when it is installed', async () => {
    expect(await project.run('node', inBankrun)).toBe('8n\n');
  });

  it('run an example unchanged', async () => {
    expect(await project.run('node', ['disputeJob.ts'])).toContain('outcome: upheld_worker');
  });

  it('provide npx svc', async () => {
    const help = await project.run('npx', ['--no-install', 'svc', '--help']);
    expect(help).toContain('Usage: svc');
    expect(help).toContain('verify');
  });

  it('refuse verbs that need the database, with a hint at the repository', async () => {
    await expect(project.run('npx', ['--no-install', 'svc', 'keys', 'list'])).rejects.toThrow(
      'svc keys works on the service',
    );
  });

  it('report that solana-bankrun is missing, and run jobs without it', async () => {
    rmSync(join(folder, 'node_modules/solana-bankrun'));
    await expect(project.run('node', inBankrun)).rejects.toThrow(
      'npm install --save-dev solana-bankrun',
    );
    expect(await project.run('node', ['disputeJob.ts'])).toContain('outcome: upheld_worker');
  });
});
