import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createAddresses } from '../../programs/client/addresses.ts';
import { parseJobId } from '../../programs/client/jobId.ts';
import { needs } from '../../testing/machine/needs.ts';
import { killStarted, startLocalnet } from '../cli/localnetCommand.ts';
import { anchorsOf, codeBlocks } from '../docs/documents.ts';
import { COMPILER_OPTIONS } from './installedProject.ts';
import { checkout, packPackages, run } from './packing.ts';
import { PRINTED, withoutId } from './printedExamples.ts';

// Builds and packs everything, and asks the registry for five libraries with all that they need.
jest.setTimeout(600_000);

const path = 'docs/packages.md';
const [, page = ''] = readFileSync(join(checkout, path), 'utf8').split('## Five empty projects');
const [, install = '', runJob = ''] = /^\$ (npm install .+)\n\$ (node .+)$/m.exec(page) ?? [];
const [, instead = '', replaced = ''] =
  /write `([^`]+)` in the place of `([^`]+)`/.exec(page) ?? [];

/** The file below each heading of the page, by the heading's anchor. */
const files = new Map(
  page
    .split(/^(?=### )/m)
    .map((text) => [anchorsOf(text)[0], codeBlocks({ path, text }, ['ts'])[0]] as const),
);

/** The rows of the page's table. */
const LIBRARIES = [...page.matchAll(/^\| \[(.+)\]\(#(.+)\) \| .+ \| `(.+)` \|$/gm)].map(
  ([, library = '', anchor = '', packages = '']) => {
    const file = files.get(anchor) ?? '';
    const isOther = packages.includes(instead);
    return { library, packages, file: isOther ? file.replace(replaced, instead) : file };
  },
);
const { describe, it } = needs('a registry of npm');
const CANDIDATE = 'web3.js 3';
const IN_CANDIDATE = [`${checkout}/dist/packages/tarballs/testing-*.tgz`, 'litesvm@1.5.0'];

/** An example's file in a project that does not say which modules it has. */
const moduleOf = (file: string): string => file.replace('.ts', '.mts');

const folder = mkdtempSync(join(tmpdir(), 'svc-empty-projects-'));
const folderOf = (library: string): string => join(folder, library.replaceAll(' ', '-'));
/** What each project's file prints. */
const printed = new Map<string, string>();
let ledger: { rpcUrl: string; wsUrl: string; keys: { wallet: number[] } };

beforeAll(async () => {
  const file = join(folder, 'ledger.json');
  await Promise.all([packPackages(), startLocalnet('--initialized', file)]);
  ledger = JSON.parse(readFileSync(file, 'utf8'));
  const environment = 'npm_config_prefer_offline=true npm_config_audit=false';
  await Promise.all(
    LIBRARIES.map(async ({ library, packages, file }) => {
      const project = folderOf(library);
      mkdirSync(project);
      writeFileSync(join(project, 'job.mts'), file);
      const others = library === CANDIDATE ? IN_CANDIDATE : [];
      const command = install
        .replace('../svc', checkout)
        .replace('<packages>', [packages, ...others].join(' '));
      await run(project, 'sh', ['-c', `${environment} ${command}`]);
      printed.set(library, await run(project, 'sh', ['-c', runJob]));
    }),
  );
});

afterAll(() => {
  killStarted();
  rmSync(folder, { recursive: true, force: true });
});

describe('the empty projects of the page', () => {
  it('are five', () => {
    expect(LIBRARIES.map(({ library }) => library)).toEqual([
      ...['web3.js 1', 'web3.js 3', 'Kit', 'Anchor 0.32', 'Anchor 1'],
    ]);
  });

  it.each(LIBRARIES)(
    'settle a job with $library, of the version that is named',
    ({ library, packages }) => {
      expect(printed.get(library)).toMatch(/^job_[0-9a-f]{32} is settled: 2 credits\n$/);
      for (const [, name, version = ''] of packages.matchAll(/(\S+)@(\S+)/g)) {
        const description = join(folderOf(library), `node_modules/${name}/package.json`);
        expect(JSON.parse(readFileSync(description, 'utf8')).version.startsWith(version)).toBe(
          true,
        );
      }
    },
  );
});

describe('the packages with web3.js 3', () => {
  const project = folderOf(CANDIDATE);
  const inProject = (file: string, ...args: string[]) =>
    run(project, process.execPath, [file, ...args]);

  beforeAll(() => {
    for (const file of Object.keys(PRINTED)) {
      cpSync(join(checkout, 'examples', file), join(project, moduleOf(file)));
    }
  });

  it.each(Object.keys(PRINTED))('run the example %s', async (file) => {
    expect(withoutId(await inProject(moduleOf(file)))).toBe(PRINTED[file]);
  });

  it('verify a job, and send what a key and a wallet sign', async () => {
    const source = 'tests/package/projects/client.mjs';
    cpSync(join(checkout, source), join(project, 'client.mjs'));
    const wallet = Keypair.fromSecretKey(Uint8Array.from(ledger.keys.wallet));
    const addresses = createAddresses();
    const creditAccount = addresses.creditAccount(wallet.publicKey);
    const [id = ''] = printed.get(CANDIDATE)?.split(' ') ?? [];
    const job = addresses.job(creditAccount, parseJobId(id) as Uint8Array).toBase58();
    const secret = Buffer.from(wallet.secretKey).toString('hex');
    const { rpcUrl, wsUrl } = ledger;
    expect(JSON.parse(await inProject('client.mjs', rpcUrl, wsUrl, job, secret))).toEqual({
      ...{ verdict: 'holds', status: 'settled', instructions: 38, outcome: 'landed' },
      hasSocket: true,
    });
  });

  it("run the program of the client's README that sends a transaction", async () => {
    const readme = 'programs/client/README.md';
    const text = readFileSync(join(checkout, readme), 'utf8');
    const [, sending = ''] = codeBlocks({ path: readme, text }, ['ts']);
    writeFileSync(join(project, 'sending.mts'), sending);
    writeFileSync(join(project, 'wallet.json'), JSON.stringify(ledger.keys.wallet));
    // Its credit account is open, and a refusal has its name from a node that executed the signed bytes.
    expect(await inProject('sending.mts', ledger.rpcUrl)).toMatch(/^AlreadyInitialized /);
  });

  it('load by require', async () => {
    const code = `require('@svc-inference/testing').startEscrow().then(async (escrow) =>
      console.log((await escrow.jobIn('settled')).id))`;
    const args = ['--input-type=commonjs', '-e', code];
    expect(await run(project, process.execPath, args)).toMatch(/^job_/);
  });

  it('have types that fit, also where libraries are checked', async () => {
    const compilerOptions = {
      ...COMPILER_OPTIONS,
      typeRoots: [join(checkout, 'node_modules/@types')],
    };
    const settings = {
      compilerOptions,
      files: ['job.mts', 'sending.mts', ...Object.keys(PRINTED).map(moduleOf)],
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(settings));
    expect(await run(project, join(checkout, 'node_modules/.bin/tsc'), ['-p', '.'])).toBe('');
  });
});
