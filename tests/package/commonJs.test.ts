import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { needs } from '../../testing/machine/needs.ts';
import { INSTALLABLE_LINES, installNode } from './emptyProject.ts';
import { type InstalledProject, installPacked } from './installedProject.ts';
import { checkout, nameOf, packPackages } from './packing.ts';

// Builds and packs everything, and asks the registry for the older Nodes.
jest.setTimeout(600_000);

/** TypeScript 5, whose defaults are CommonJS and resolve as Node 10 did; the checkout's is newer. */
const TSC = join(checkout, 'node_modules/@arethetypeswrong/core/node_modules/typescript/bin/tsc');
/** As in Node 20 before 20.19: no ESM for `require`. */
const OLD_REQUIRE = '--no-experimental-require-module';

const WEBHOOKS = nameOf('webhooks');
const CLIENT = nameOf('client');
const TESTING = nameOf('testing');
const ON_NODE_20 = [
  WEBHOOKS,
  ...['', '/sender', '/verify', '/wallet', '/idl.json'].map((path) => CLIENT + path),
];

const SETTINGS = {
  'the defaults of TypeScript 5': { module: 'commonjs', target: 'es2022' },
  node16: { module: 'node16', target: 'es2022', strict: true },
  nodenext: { module: 'nodenext', target: 'es2022', strict: true },
  'a new project of NestJS': {
    ...{ module: 'commonjs', target: 'es2021', declaration: true, strictNullChecks: false },
    ...{ experimentalDecorators: true, emitDecoratorMetadata: true },
  },
  'a new project of Anchor': {
    ...{ module: 'commonjs', target: 'es6', lib: ['es2015'], esModuleInterop: true },
  },
};

const folder = mkdtempSync(join(tmpdir(), 'svc-common-js-'));
let project: InstalledProject;

beforeAll(async () => {
  const packed = await packPackages();
  const sources = ['tests/package/projects/commonJs.ts'];
  project = await installPacked(folder, packed, sources, 'commonjs');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function expectRequired(node: string, names: readonly string[]): Promise<void> {
  const code = `console.log(${JSON.stringify(names)}.map((name) => typeof require(name)).join())`;
  const kinds = await project.run(node, [OLD_REQUIRE, '-e', code]);
  expect(kinds).toBe(`${names.map(() => 'object').join()}\n`);
}

describe('require of a package', () => {
  it('works here without ESM', async () => {
    await expectRequired(process.execPath, [...ON_NODE_20, TESTING]);
  });

  needs('a registry of npm').it.each(INSTALLABLE_LINES)(
    'works on Node %i without ESM',
    async (line) => {
      const names = line === 20 ? ON_NODE_20 : [...ON_NODE_20, TESTING];
      await expectRequired(await installNode(line), names);
    },
  );

  it('gives what import gives', async () => {
    const code = `
      for (const name of ${JSON.stringify([...ON_NODE_20.slice(0, -1), TESTING])}) {
        const imported = Object.keys(await import(name)).sort().join();
        const required = Object.keys(process.getBuiltinModule('node:module')
          .createRequire(process.cwd() + '/')(name)).sort().join();
        console.log(imported === required && imported !== '');
      }`;
    const printed = await project.run('node', ['--input-type=module', '-e', code]);
    expect(printed).toBe('true\n'.repeat(6));
  });
});

describe('a project of CommonJS', () => {
  it.each(Object.entries(SETTINGS))('type-checks and runs with %s', async (_whose, given) => {
    const compilerOptions = { skipLibCheck: true, types: ['node'], outDir: 'out', ...given };
    const config = { compilerOptions, files: ['commonJs.ts'] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    expect(await project.run('node', [TSC, '-p', '.'])).toBe('');
    const printed = await project.run('node', [OLD_REQUIRE, 'out/commonJs.js']);
    expect(JSON.parse(printed)).toEqual({
      threshold: 100,
      forged: null,
      refusal: 'DeadlineNotReached',
      builds: true,
      decoded: 'Job',
      idl: ['escrow', 'escrow'],
      sender: ['function', true],
      verdict: 'string',
    });
  });

  it('runs tests in jest without a flag', async () => {
    writeFileSync(
      join(folder, 'escrow.test.js'),
      `const { Refusal, startEscrow } = require('${TESTING}');
       const { verifyWebhook, WebhookVerificationError } = require('${WEBHOOKS}');
       const { createSender, createJobId } = require('${CLIENT}');
       test('a job', async () => {
         const escrow = await startEscrow();
         const job = await escrow.lock();
         await expect(escrow.refund(job)).rejects.toThrow(Refusal);
         await escrow.acknowledge(job);
         await escrow.prove(job, { text: 'Hello.' });
         expect((await escrow.settle(job, { text: 'Hello.' })).chargedCredits).toBe(8n);
       });
       test('a webhook', () => {
         const verify = () => verifyWebhook({ rawBody: '{}', headers: {}, secret: 'a secret' });
         expect(verify).toThrow(WebhookVerificationError);
         expect([typeof createSender, typeof createJobId]).toEqual(['function', 'function']);
       });`,
    );
    const env = `NODE_OPTIONS=${OLD_REQUIRE}`;
    const report = JSON.parse(await project.run('sh', ['-c', `${env} npx jest --json`]));
    expect(report).toMatchObject({ success: true, numPassedTests: 2 });
  });
});
