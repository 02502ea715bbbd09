import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { RequestHandler } from 'express';
import { delay } from '../../common/wait.ts';
import { ApiError } from '../contracts/errors.ts';
import { table } from './markdown.ts';
import type { Page } from './page.ts';

/** One package of this release, as `index.json` of `npm run build` lists it. */
interface Tarball {
  /** The last part of its name. */
  readonly key: string;
  readonly name: string;
  readonly version: string;
  /** Its file's name holds the version and a hash of the content. */
  readonly file: string;
  readonly bytes: number;
  /** The sha512, as npm's lockfiles have it. */
  readonly integrity: string;
}

/** Where the packages are that this release was built with, and the root that clients use. */
export interface Packages {
  readonly packagesFolder: string;
  /** The id of the process that builds them now, if one does. */
  readonly packagesBuildId?: number | undefined;
  readonly publicUrl: string;
  /** Whether this process has begun to end: then no request waits. */
  readonly isDraining: () => boolean;
}

const PATH = '/packages/';
const INDEX = 'index.json';
/** Of what a release changes. */
const LASTING_SECONDS = 10;
const BUILD_RETRY_SECONDS = 10;
const BUILD_POLL_MS = 250;
/** The first build takes a minute, on a busy machine some. */
const BUILD_WAIT_MS_MAX = 300_000;
const BYTES_PER_KB = 1_000;

/** GET /packages/: what can be installed without a checkout, with the sha512 of each file. */
export function packagesPage(packages: Packages): Page {
  const { publicUrl } = packages;
  return {
    path: PATH,
    source: '/docs/packages.md',
    title: 'Packages',
    summary: 'The commands, the client, the tests and the receiver, to be installed by address.',
    text: `# Packages

The code of this release, for use without a checkout. Install a package by its address. The names are on no registry yet, so never install them by name. The commands need Node 22.19 or newer; beside an older one, \`npm install node@24\` brings it.

\`\`\`sh
npm install "$(curl -fsS ${publicUrl}${PATH}cli)"
npx --no -- svc --help
\`\`\`

The client and the tests also need web3.js, by its version: a plain \`npm install @solana/web3.js\` brings 2.0.0, beside which npm refuses them.

\`\`\`sh
npm install "$(curl -fsS ${publicUrl}${PATH}client)" @solana/web3.js@1.99
\`\`\`

The first line asks for the address of the newest file, which holds a hash of the content. \`npm\` writes its sha512 into \`package-lock.json\`, and holds every later install against it. \`npx --no\` runs what is installed and downloads nothing.

## Check what you install

Who does not trust this service builds the packages from the repository: \`npm ci && npm run build\` prints the same lines, byte for byte. Or compare with the list of the release. This page proves nothing against the service that wrote it.
`,
    live: async () => describeTarballs(await readTarballs(packages), publicUrl),
  };
}

function describeTarballs(tarballs: readonly Tarball[], publicUrl: string): string {
  const rows = tarballs.map(({ name, version, file, bytes, integrity }) => [
    `\`${name}\`\n\n${version}, ${Math.ceil(bytes / BYTES_PER_KB)} kB`,
    `[${publicUrl}${PATH}${file}](${PATH}${file})\n\n\`${integrity}\``,
  ]);
  return `${table(['Package', 'Address and sha512'], rows)}\n`;
}

/**
 * GET /packages/{name}: `index.json`, the address of a package's file by the last part of its name,
 * or a file.
 */
export function servePackage(packages: Packages): RequestHandler {
  const { packagesFolder, publicUrl } = packages;
  return async (request, response) => {
    const name = String(request.params.name);
    const tarballs = (await readTarballs(packages)).map((tarball) => ({
      ...tarball,
      url: `${publicUrl}${PATH}${tarball.file}`,
    }));
    const newest = tarballs.find(({ key }) => key === name);
    const file = tarballs.find((tarball) => tarball.file === name);
    if (file) {
      response.set({
        'content-type': 'application/gzip',
        'content-length': String(file.bytes),
        'cache-control': 'public, max-age=31536000, immutable',
      });
      return pipeline(createReadStream(join(packagesFolder, file.file)), response);
    }
    response.set('cache-control', `public, max-age=${LASTING_SECONDS}`);
    if (newest) return void response.type('text').send(`${newest.url}\n`);
    if (name === INDEX) return void response.json(tarballs);
    throw new ApiError(
      'route_not_found',
      `There is no GET ${request.path}. GET ${PATH} lists the packages of this release.`,
    );
  };
}

/**
 * Waits for a build that runs, since `curl -f` says little of an error.
 *
 * @throws ApiError service_unavailable where this copy's packages are not built
 */
async function readTarballs(packages: Packages): Promise<readonly Tarball[]> {
  const { packagesFolder, packagesBuildId, isDraining } = packages;
  const deadline = performance.now() + BUILD_WAIT_MS_MAX;
  for (;;) {
    // Asked before the list is read: a build may end in between.
    const isComing = !isDraining() && performance.now() < deadline && isRunning(packagesBuildId);
    try {
      return JSON.parse(await readFile(join(packagesFolder, INDEX), 'utf8'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      if (!isComing) throw notBuilt();
    }
    await delay(BUILD_POLL_MS);
  }
}

function isRunning(processId: number | undefined): boolean {
  if (processId === undefined) return false;
  try {
    return process.kill(processId, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

const notBuilt = () =>
  new ApiError('service_unavailable', 'The packages are not built: npm run build builds them.', {
    retryAfterSeconds: BUILD_RETRY_SECONDS,
  });
