import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { linksOf } from '../docs/documents.ts';
import { checkout, type InstalledProject, installPacked } from './installedProject.ts';

const INSTALL_TIMEOUT_MS = 60_000;
const EXAMPLE = /^examples\/.+\.(ts|mjs|py|sh|md|json)$/;
/** What the documents link to besides. */
const LINKED = /^\.env\.example$|^programs\/escrow\/src\/.+\.rs$/;
const DOCUMENT = /^(README|ARCHITECTURE|SECURITY|CHANGELOG|docs\/.+)\.md$|^LICENSE$/;
const RUN = /^((dist\/)?package\.json|bin\/(svc|pinnedNode)\.mjs|dist\/.+\.(js|d\.ts))$/;
const READ_AT_RUN_TIME =
  /^dist\/(programs\/client\/idl\.json|programs\/escrow\/artifacts\/.+|indexer\/migrations\/.+\.sql)$/;

const IN_BANKRUN = `
  import { startEscrow } from 'svc-inference/testing';
  const escrow = await startEscrow({ ledger: 'bankrun' });
  const job = await escrow.lock();
  console.log((await escrow.job(job)).lockedCredits);
`;

const inBankrun = ['--input-type=module', '-e', IN_BANKRUN];

const folder = mkdtempSync(join(tmpdir(), 'svc-project-'));
let project: InstalledProject;

beforeAll(async () => {
  project = await installPacked(folder, ['tests/package/consumer.ts', 'examples/disputeJob.ts']);
}, INSTALL_TIMEOUT_MS);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the packed package', () => {
  it('holds what runs and what is read, and no test, setting or map', () => {
    const { packed } = project;
    const superfluous = packed.filter((path) =>
      [DOCUMENT, EXAMPLE, LINKED, RUN, READ_AT_RUN_TIME].every((kind) => !kind.test(path)),
    );
    expect(superfluous).toEqual([]);
    expect(
      packed.filter((path) => /(^|\/)tests?\/|\.test\.|\.env(?!\.example$)/.test(path)),
    ).toEqual([]);
  });

  it('holds what its documents link to', () => {
    const { packed, installed } = project;
    const documents = packed.filter((path) => path.endsWith('.md'));
    const links = documents.flatMap((path) =>
      linksOf({ path, text: readFileSync(join(installed, path), 'utf8') }),
    );
    expect(links.length).toBeGreaterThan(100);
    const isPacked = (target: string) =>
      packed.some((path) => path === target || path.startsWith(`${target}/`));
    expect(links.map(({ target }) => target).filter((target) => !isPacked(target))).toEqual([]);
  });

  it('names no path of the machine it was made on', () => {
    const naming = project.packed.filter((path) => {
      const text = readFileSync(join(project.installed, path), 'latin1');
      return text.includes(checkout) || text.includes('sourceMappingURL');
    });
    expect(naming).toEqual([]);
  });

  it('type-checks in a strict project, libraries included', async () => {
    const compiler = join(checkout, 'node_modules/.bin/tsc');
    expect(await project.run(compiler, ['-p', folder])).toBe('');
  });

  it('runs under plain node: a job in LiteSVM, a webhook, Anchor on the IDL', async () => {
    expect(JSON.parse(await project.run('node', ['consumer.ts']))).toEqual({
      status: 'settled',
      decoded: 'Job',
      refusal: 'WrongJobStatus',
      builds: true,
      isElf: true,
      anchor: 'job_refund',
      instructions: 35,
      threshold: 100,
    });
  });

  it('runs a job in solana-bankrun where that is installed', async () => {
    expect(await project.run('node', inBankrun)).toBe('8n\n');
  });

  it('runs an example as it stands', async () => {
    expect(await project.run('node', ['disputeJob.ts'])).toContain('outcome: upheld_worker');
  });

  it('has npx svc', async () => {
    const help = await project.run('npx', ['--no-install', 'svc', '--help']);
    expect(help).toContain('Usage: svc');
    expect(help).toContain('keys');
  });

  it('says what is missing when solana-bankrun is, and runs jobs without it', async () => {
    rmSync(join(folder, 'node_modules/solana-bankrun'));
    await expect(project.run('node', inBankrun)).rejects.toThrow(
      'npm install --save-dev solana-bankrun',
    );
    expect(await project.run('node', ['disputeJob.ts'])).toContain('outcome: upheld_worker');
  });
});
