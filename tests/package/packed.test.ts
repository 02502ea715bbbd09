import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { REPOSITORY, SCOPE, TARBALLS } from '../../bin/packages.ts';
import { createJobScene, type JobScene, type LockedJob } from '../../testing/ledger/jobScene.ts';
import { needs } from '../../testing/machine/needs.ts';
import { chromiumPath } from '../../testing/machine/tools.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { runInChromium, runInVm } from '../client/browserBundle.ts';
import {
  type EmptyProject,
  INSTALLABLE_LINES,
  installInEmptyProject,
  installNode,
  OLDEST_NODES,
} from './emptyProject.ts';
import { type InstalledProject, installPacked } from './installedProject.ts';
import {
  checkout,
  type Listed,
  nameOf,
  PACKAGE_KEYS,
  type PackageKey,
  packPackages,
  run,
} from './packing.ts';

// Builds, packs and compiles everything, and asks the registry for all that the packages depend on.
jest.setTimeout(600_000);

const EXPECTED = [
  /^(README\.md|LICENSE|package\.json|svc\.mjs)$/,
  /^dist\/.+\.(c?js|d\.c?ts)$/,
  /^dist\/vendor\/LICENSES\.txt$/,
  /^dist\/programs\/(client\/idl\.json|escrow\/artifacts\/.+)$/,
  /^dist\/stack\/modelCards\/builtin\.json$/,
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

/** Locks a job. @param options of startEscrow, as code */
const inEscrow = (options: string) => [
  ...['--input-type=module', '-e'],
  `import { startEscrow } from '@svc-inference/testing';
  const escrow = await startEscrow(${options});
  const job = await escrow.lock();
  console.log((await escrow.job(job)).lockedCredits);`,
];

const CONSUMERS = ['tests/package/consumer.ts', 'examples/disputeJob.ts'];

const GZIP_BYTES_MAX = 80_000;
const SVC_BYTES_MAX = 60_000_000;

/** What a project that begins with one package has besides it. */
const PROJECTS: Readonly<Record<PackageKey, { source?: string; peers?: string[] }>> = {
  webhooks: { source: 'webhooks.mjs' },
  client: { source: 'client.mjs', peers: ['@solana/web3.js@1.99'] },
  testing: { source: 'testing.mjs', peers: ['litesvm@1.5.0', '@solana/web3.js@1.99'] },
  cli: {},
};

/** For a project that installs a package and all that it depends on. */
const registry = needs('a registry of npm', 'curl');

const folder = mkdtempSync(join(tmpdir(), 'svc-packages-'));
/** A project that has all packages, with the dependencies of the checkout. */
const together = join(folder, 'together');
let project: InstalledProject;
const nodes = new Map<number, string>([[24, process.execPath]]);
const projects = new Map<PackageKey, EmptyProject>();
/** It serves the packages of this checkout. */
let service: RunningService;
let scene: JobScene;
let job: LockedJob;

beforeAll(async () => {
  const installNodes = (registry.isMet ? INSTALLABLE_LINES : []).map(async (line) => {
    nodes.set(line, await installNode(line));
  });
  const installPackages = packPackages().then(async (packed) => {
    service = await startRunningService();
    const serviceUrl = service.baseUrl;
    await Promise.all([
      ...Object.entries(registry.isMet ? PROJECTS : {}).map(
        async ([key, { source, peers = [] }]) => {
          const name = key as PackageKey;
          const sources = source ? [`tests/package/projects/${source}`] : [];
          const options = { folder: join(folder, name), serviceUrl, key: name, sources, peers };
          projects.set(name, await installInEmptyProject(options));
        },
      ),
      installPacked(together, packed, CONSUMERS).then((installed) => {
        project = installed;
      }),
    ]);
  });
  scene = await createJobScene();
  [job] = (await scene.lock({ count: 1, tokenLimit: 2_000 })) as [LockedJob];
  await scene.acknowledge(job.address);
  await scene.settle(job.address);
  await Promise.all([...installNodes, installPackages]);
});

afterAll(async () => {
  await service?.close();
  await scene?.ledger.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(PACKAGE_KEYS)('the packed package %s', (name) => {
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
    for (const path of project.packed[name].filter((file) => /\.(c?js|d\.c?ts)$/.test(file))) {
      const text = readFileSync(join(project.installed(name), path), 'utf8');
      const code = text.replaceAll(COMMENT_LINE, '');
      for (const [, module = ''] of code.matchAll(IMPORTED)) imported.add(module);
    }
    const others = [...builtinModules, ...(name === 'cli' ? OPTIONAL : [])];
    for (const other of others) imported.delete(other);
    expect([...imported].sort()).toEqual(
      Object.keys({ ...dependencies, ...peerDependencies }).sort(),
    );
  });
});

describe('@svc-inference/webhooks', () => {
  it('has no dependency and less than 50 kB', () => {
    const sizes = project.packed.webhooks.map(
      (path) => statSync(join(project.installed('webhooks'), path)).size,
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(UNPACKED_BYTES_MAX);
  });
});

describe('the packages together', () => {
  it('type-check in a strict project, libraries included', async () => {
    const compiler = join(checkout, 'node_modules/.bin/tsc');
    expect(await project.run(compiler, ['-p', together])).toBe('');
  });

  it('run in plain Node: a job in LiteSVM, a webhook, Anchor on the IDL', async () => {
    expect(JSON.parse(await project.run('node', ['consumer.ts']))).toEqual({
      status: 'settled',
      decoded: 'Job',
      refusal: 'WrongJobStatus',
      builds: true,
      isElf: true,
      anchor: 'job_refund',
      instructions: 38,
      threshold: 100,
    });
  });

  it('provide the command svc', async () => {
    const help = await project.run('npx', ['--no', '--', 'svc', '--help']);
    expect(help).toContain('Usage: svc');
    expect(help).toContain('verify');
  });

  it('refuse verbs that need the database, with a hint at the repository', async () => {
    await expect(project.run('npx', ['--no', 'svc', 'keys', 'list'])).rejects.toThrow(
      'svc keys works on the service',
    );
  });

  it('run a test in jest, by the file and the command of the page', async () => {
    const page = readFileSync(join(checkout, 'docs/packages.md'), 'utf8');
    const [, file = '', command = ''] =
      /^```ts\n(import [^`]+?'@jest\/globals'.+?)^```\n.*?^\$ (NODE_OPTIONS=.+?)$/ms.exec(page) ??
      [];
    writeFileSync(join(together, 'escrow.test.js'), file);
    const report = JSON.parse(await project.run('sh', ['-c', `${command} --json`]));
    expect(report).toMatchObject({ success: true, numPassedTests: 1 });
  });
});

describe.each([
  { ledger: 'litesvm', other: 'bankrun', missing: 'solana-bankrun' },
  { ledger: 'bankrun', other: 'litesvm', missing: 'litesvm' },
])('the packages without $missing', ({ ledger, other, missing }) => {
  beforeAll(() => project.unlink(missing));
  afterAll(() => project.link(missing));

  it('type-check', async () => {
    const compiler = join(checkout, 'node_modules/.bin/tsc');
    expect(await project.run(compiler, ['-p', together])).toBe('');
  });

  it('run a job in the other ledger', async () => {
    expect(await project.run('node', inEscrow(`{ ledger: '${ledger}' }`))).toBe('8n\n');
  });

  it('name it where it is needed', async () => {
    const started = project.run('node', inEscrow(`{ ledger: '${other}' }`));
    const words = `ledger: '${other}' needs: npm install --save-dev ${missing}. Others: '${ledger}'`;
    await expect(started).rejects.toThrow(words);
  });
});

/** Runs a project's program on a line of Node. */
function runProject(name: PackageKey, line: number, args: readonly string[] = []) {
  const source = PROJECTS[name].source as string;
  return projectOf(name).run(nodes.get(line) as string, [source, ...args]);
}

function projectOf(name: PackageKey): EmptyProject {
  const project = projects.get(name);
  if (!project) throw new Error(`${name} is not installed`);
  return project;
}

registry.describe.each([...INSTALLABLE_LINES, 24])('the packages on Node %i', (line) => {
  it('verify webhooks', async () => {
    expect(await runProject('webhooks', line)).toBe('credit.low signature_mismatch');
  });

  it('verify a job, build instructions and send them', async () => {
    const { rpcUrl, wsUrl, payer } = scene.ledger;
    const secret = Buffer.from(payer.secretKey).toString('hex');
    const args = [rpcUrl, wsUrl, job.address.toBase58(), secret];
    expect(JSON.parse(await runProject('client', line, args))).toEqual({
      verdict: 'holds',
      status: 'settled',
      instructions: 38,
      outcome: 'landed',
      hasSocket: line !== 20,
    });
  });
});

registry.describe.each([...INSTALLABLE_LINES, 24].filter((line) => line >= 22))(
  '@svc-inference/testing on Node %i',
  (line) => {
    it('runs a job in LiteSVM', async () => {
      expect(await runProject('testing', line)).toBe('DeadlineNotReached 8');
    });
  },
);

registry.describe('svc', () => {
  it('verifies a job, and has less than 60 MB with all that it depends on', async () => {
    const project = projectOf('cli');
    expect(project.installedBytes).toBeLessThan(SVC_BYTES_MAX);
    const args = ['verify', job.address.toBase58(), '--rpc', scene.ledger.rpcUrl];
    const command = [`node_modules/${nameOf('cli')}/svc.mjs`, ...args];
    expect(await project.run(process.execPath, command)).toContain(
      'Everything that applies holds.',
    );
  });
});

registry.describe.each(INSTALLABLE_LINES)('svc on the oldest Node %i', (line) => {
  it('says which Node it needs', async () => {
    const command = [`node_modules/${nameOf('cli')}/svc.mjs`, '--help'];
    const running = projectOf('cli').run(nodes.get(line) as string, command);
    await expect(running).rejects.toThrow(
      /^svc needs Node 22\.19 or newer, and this is v[\d.]+\. Install one beside it: npm install node@24$/m,
    );
  });
});

describe('what the service serves', () => {
  registry.it('is in the lockfile by an address with a hash, and its sha512', async () => {
    const response = await fetch(`${service.baseUrl}/packages/index.json`);
    const list = (await response.json()) as Listed[];
    expect(list.map(({ key }) => key)).toEqual(PACKAGE_KEYS);
    for (const { key, file, integrity } of list) {
      const lockfile = join(projectOf(key).folder, 'package-lock.json');
      const { packages } = JSON.parse(readFileSync(lockfile, 'utf8'));
      expect(packages[`node_modules/${nameOf(key)}`]).toMatchObject({
        resolved: `${service.baseUrl}/packages/${file}`,
        integrity,
      });
    }
  });

  it('names the repository, and depends on no package of ours by a version', () => {
    for (const key of PACKAGE_KEYS) {
      const path = join(project.installed(key), 'package.json');
      const { name, repository, homepage, bugs, ...rest } = JSON.parse(readFileSync(path, 'utf8'));
      expect(name).toBe(nameOf(key));
      expect([repository.url, homepage, bugs].every((url) => url.includes(REPOSITORY))).toBe(true);
      const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = rest;
      const all = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
      expect(all.filter((other) => other.startsWith(SCOPE))).toEqual([]);
    }
  });

  it('is built a second time byte for byte', async () => {
    const again = join(folder, 'again');
    await run(checkout, 'node', ['bin/buildPackages.mjs', again]);
    const [one, two] = [TARBALLS, join(again, 'tarballs')].map((path) =>
      readFileSync(join(path, 'index.json'), 'utf8'),
    );
    expect(two).toBe(one);
  });

  registry.it('never comes from a registry where svc is not installed', async () => {
    const empty = mkdtempSync(join(folder, 'empty-'));
    await expect(run(empty, 'npx', ['--no', 'svc', 'verify'])).rejects.toThrow('npx canceled');
  });
});

registry.describe('the engines of the packages', () => {
  it.each([
    ['client', 20],
    ['testing', 22],
  ] as const)('begin for %s with the oldest Node %i that runs it here', (name, line) => {
    const path = join(projectOf(name).folder, 'node_modules', nameOf(name), 'package.json');
    const { engines } = JSON.parse(readFileSync(path, 'utf8'));
    const [major, minor] = OLDEST_NODES[line].split('.');
    expect(engines.node).toBe(`>=${major}.${minor}`);
  });
});

registry.describe('a page that Vite bundles', () => {
  it('verifies a job, with at most 80 kB compressed and nothing of Node', async () => {
    const project = projectOf('client');
    const config = {
      logLevel: 'error',
      build: {
        outDir: 'page',
        lib: { entry: 'page.mjs', formats: ['iife'], name: 'bundled', fileName: 'page' },
      },
    };
    const text = readFileSync(join(checkout, 'tests/package/projects/page.mjs'), 'utf8');
    writeFileSync(join(project.folder, 'page.mjs'), text);
    writeFileSync(
      join(project.folder, 'vite.config.mjs'),
      `export default ${JSON.stringify(config)};`,
    );
    await project.run(join(checkout, 'node_modules/.bin/vite'), ['build']);
    const code = readFileSync(join(project.folder, 'page/page.iife.js'), 'utf8');
    expect(code).not.toMatch(/\bBuffer\b|\bprocess\.|\brequire\(/);
    expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(GZIP_BYTES_MAX);

    const path = chromiumPath();
    const page = path ? await runInChromium(code, path, callNode) : await runInVm(code, callNode);
    expect(await page.call('verify', job.address.toBase58())).toBe('holds');
    await page.close();
  });
});

/** Carries a page's call to the ledger's node. */
async function callNode(call: string): Promise<string> {
  const { method, params } = JSON.parse(call);
  const response = await fetch(scene.ledger.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return response.text();
}
