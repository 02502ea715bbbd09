import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { RequestHandler } from 'express';
import { ApiError } from '../contracts/errors.ts';
import { type Html, html, type Page } from './page.ts';

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
  readonly publicUrl: string;
}

const PATH = '/packages/';
const INDEX = 'index.json';
/** Of what a release changes. */
const LASTING_SECONDS = 10;
/** The first `npm start` of a checkout builds them after everything else. */
const BUILD_RETRY_SECONDS = 10;
const BYTES_PER_KB = 1_000;

/** GET /packages/: what can be installed without a checkout, with the sha512 of each file. */
export function packagesPage({ packagesFolder, publicUrl }: Packages): Page {
  return {
    path: PATH,
    title: 'Packages',
    contents: [{ title: 'Check what you install', anchor: 'check' }],
    body: html`<h1>Packages</h1>
<p>The code of this release, for use without a checkout. Install a package by its address. The names are on no registry yet, so never install them by name.</p>
<pre><code>npm install "$(curl -fsS ${publicUrl}${PATH}cli)"
npx --no -- svc --help</code></pre>
<p>The client and the tests also need web3.js, by its version: a plain <code>npm install @solana/web3.js</code> brings 2.0.0, beside which npm refuses them.</p>
<pre><code>npm install "$(curl -fsS ${publicUrl}${PATH}client)" @solana/web3.js@1.99</code></pre>
<p>The first line asks for the address of the newest file, which holds a hash of the content. <code>npm</code> writes its sha512 into <code>package-lock.json</code>, and holds every later install against it. <code>npx --no</code> runs what is installed and downloads nothing.</p>
<h2 id="check">Check what you install</h2>
<p>Who does not trust this service builds the packages from the repository: <code>npm ci &amp;&amp; npm run build</code> prints the same lines, byte for byte. Or compare with the list of the release. This page proves nothing against the service that wrote it.</p>`,
    live: async () => renderTarballs(await readTarballs(packagesFolder), publicUrl),
  };
}

function renderTarballs(tarballs: readonly Tarball[], publicUrl: string): Html {
  const rows = tarballs.map(
    ({ name, version, file, bytes, integrity }) => html`<tr>
<td><code>${name}</code><br><small>${version}, ${Math.ceil(bytes / BYTES_PER_KB)} kB</small></td>
<td><a href="${PATH}${file}">${publicUrl}${PATH}${file}</a><br><code>${integrity}</code></td>
</tr>
`,
  );
  return html`<div class="table"><table>
<thead><tr><th>Package</th><th>Address and sha512</th></tr></thead>
<tbody>
${rows}</tbody>
</table></div>`;
}

/**
 * GET /packages/{name}: `index.json`, the address of a package's file by the last part of its name,
 * or a file.
 */
export function servePackage({ packagesFolder, publicUrl }: Packages): RequestHandler {
  return async (request, response) => {
    const name = String(request.params.name);
    const tarballs = (await readTarballs(packagesFolder)).map((tarball) => ({
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

/** @throws ApiError service_unavailable where this copy's packages are not built yet */
async function readTarballs(folder: string): Promise<readonly Tarball[]> {
  try {
    return JSON.parse(await readFile(join(folder, INDEX), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new ApiError(
      'service_unavailable',
      'The packages are not built yet: npm start builds them in its first minute, and npm run build at once.',
      { retryAfterSeconds: BUILD_RETRY_SECONDS },
    );
  }
}
