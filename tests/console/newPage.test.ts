import { execFile } from 'node:child_process';
import { once } from 'node:events';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BUILD_MS_MAX = 120_000;

/** What somebody writes for a page that reads a route of its own: its file, its entry, the route. */
const PAGE = `
import { useRead } from '../../data/queries.ts';
import { PageHeader } from '../../design/page.tsx';
import { APP_PAGES } from '../../routes.ts';

export default function SamplePage() {
  useRead('/sample');
  return <PageHeader {...APP_PAGES['/console/sample'].head} />;
}
`;
const ENTRY = `'/console/sample': {
    module: 'pages/public/samplePage.tsx',
    access: 'public',
    head: { title: 'Sample', lead: 'A page that a test has added.' },
    menu: { group: 'Network' },
    reads: ['/sample'],
  },
  `;
const ROUTE = `getSample: route('GET', '/sample', ['public'], { summary: 'sample' }),
  `;

const COPIED = ['console', 'api/console', 'api/contracts', 'package.json'];

let copy: string;

/** A copy of the console and its API, in which everything else is the checkout's. */
beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'console-'));
  await mkdir(join(copy, 'api'));
  for (const folder of ['', 'api']) {
    for (const name of await readdir(join(ROOT, folder))) {
      const path = join(folder, name);
      if (path === 'api' || COPIED.includes(path)) continue;
      await symlink(join(ROOT, path), join(copy, path));
    }
  }
  const filter = (path: string) => !path.endsWith('console/dist');
  for (const path of COPIED) {
    await cp(join(ROOT, path), join(copy, path), { recursive: true, filter });
  }
});

afterAll(() => rm(copy, { recursive: true }));

async function insertBefore(path: string, mark: string, text: string): Promise<void> {
  // Through a link it would be the checkout's own file.
  expect(await realpath(join(copy, path))).toBe(join(await realpath(copy), path));
  const before = await readFile(join(copy, path), 'utf8');
  expect(before).toContain(mark);
  await writeFile(join(copy, path), before.replace(mark, text + mark));
}

describe('a new page', () => {
  it(
    'takes its file, its entry in routes.ts and the contract of what it reads',
    async () => {
      await writeFile(join(copy, 'console/pages/public/samplePage.tsx'), PAGE);
      await insertBefore('console/routes.ts', "'/console/models': {", ENTRY);
      await insertBefore('api/contracts/network.ts', 'getNetwork: route(', ROUTE);

      const dist = join(copy, 'console/dist');
      const vite = join(ROOT, 'node_modules/vite/bin/vite.js');
      const config = join(copy, 'console/build/vite.config.ts');
      await promisify(execFile)(process.execPath, [vite, 'build', '--config', config], {
        cwd: copy,
      });

      // The navigation leads there, and the document has its title and its code.
      const document = await readFile(join(dist, 'documents/samplePage.html'), 'utf8');
      expect(document).toContain('<title>Sample · svc</title>');
      expect(document).toContain('<h1>Sample</h1>');
      expect(document).toMatch(/<a href="\/console\/sample"[^>]* aria-current="page">Sample<\/a>/);
      expect(document).toMatch(/rel="modulepreload"[^>]*samplePage-/);
      const home = await readFile(join(dist, 'documents/homePage.html'), 'utf8');
      expect(home).toContain('<a href="/console/sample"');

      // The pages know that what it reads stays when a wallet signs out.
      const scripts = (await readdir(join(dist, 'assets'))).filter((name) => name.endsWith('.js'));
      const code = await Promise.all(scripts.map((name) => readFile(join(dist, 'assets', name))));
      expect(code.join('')).toMatch(/["'`]?\/sample["'`]?:["'`]public["'`]/);

      // The API serves it, and has a browser ask at once for what it reads.
      const load = (path: string) => import(pathToFileURL(join(copy, path)).href);
      const { servePages } = await load('api/console/pages/servePages.ts');
      const { readPageFiles } = await load('api/console/pages/files.ts');
      const app = express();
      const deployment = { rpc_url: null, program_id: 'program', development_wallet_url: null };
      servePages(app, readPageFiles(dist), deployment);
      const server = createServer(app).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const response = await fetch(`http://127.0.0.1:${port}/console/sample`);
      server.close();
      expect(await response.text()).toContain('<title>Sample · svc</title>');
      expect(response.headers.get('link')).toContain('</console/api/sample>; rel=preload');
    },
    BUILD_MS_MAX,
  );
});
