import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import { readPageFiles } from '../../../api/console/pages/files.ts';
import { servePages } from '../../../api/console/pages/servePages.ts';
import {
  APP_PAGES,
  APP_PATHS,
  documentOf,
  SIGN_IN_DOCUMENT,
  VERIFY_PATHS,
} from '../../../console/routes.ts';
import { type ConsoleScene, openConsoleScene } from './consoleScene.ts';

const FONTS = ['geist-latin-wght-normal-1a.woff2', 'geist-mono-latin-wght-normal-2b.woff2'];
const SCRIPT = 'console.log(1);'.repeat(100);
let folder: string;
let scene: ConsoleScene;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pages-'));
  await mkdir(join(folder, 'assets'));
  await mkdir(join(folder, 'documents'));
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>template</title>');
  for (const file of [...Object.values(APP_PAGES).map(documentOf), SIGN_IN_DOCUMENT]) {
    await writeFile(join(folder, file), `<!doctype html><title>app: ${file}</title>`);
  }
  const meta = '<meta name="svc-rpc" content="" /><meta name="svc-program" content="" />';
  await writeFile(join(folder, 'verify.html'), `<!doctype html>${meta}<title>verify</title>`);
  await writeFile(join(folder, 'assets/app-1a2b.js'), SCRIPT);
  await writeFile(join(folder, 'assets/app-1a2b.js.br'), brotliCompressSync(SCRIPT));
  for (const file of FONTS) await writeFile(join(folder, 'assets', file), 'a font');
  await writeFile(join(folder, 'secret.txt'), 'not served');
  scene = await openConsoleScene({ console: { pages: readPageFiles(folder) } });
});

afterAll(async () => {
  await scene.close();
  await rm(folder, { recursive: true });
});

const get = (path: string, headers = {}) => fetch(`${scene.url}${path}`, { headers });
const example = (path: string) => path.replaceAll(/:\w+/g, 'example');

describe('the pages', () => {
  it('are served on their own paths, each with its code and reader', async () => {
    for (const path of APP_PATHS) {
      for (const hasSession of [true, false]) {
        const response = await get(example(path), hasSession ? { cookie: scene.cookie } : {});
        const isAsked = APP_PAGES[path].access === 'wallet' && !hasSession;
        const file = isAsked ? SIGN_IN_DOCUMENT : documentOf(APP_PAGES[path]);
        const title = `<title>app: ${file}</title>`;
        expect(await response.text()).toContain(title);
        expect(response.headers.get('vary')).toContain('Cookie');
      }
    }
    for (const path of VERIFY_PATHS) {
      expect(await (await get(example(path))).text()).toContain('<title>verify</title>');
    }
  });

  it('begin at the root, too', async () => {
    const title = `<title>app: ${documentOf(APP_PAGES['/console'])}</title>`;
    expect(await (await get('/')).text()).toContain(title);
  });

  it('share their fonts with the documentation, which leads to them', async () => {
    const docs = await get('/docs');
    const text = await docs.text();
    for (const file of FONTS) {
      expect(docs.headers.get('link')).toContain(
        `</console/assets/${file}>; rel=preload; as=font; crossorigin`,
      );
      expect(text).toContain(`src: url("/console/assets/${file}") format("woff2")`);
    }
    expect(text).toContain('href="/console"');
  });

  it.each([
    '/console/unknown',
    '/console/index.html',
    '/console/jobs/a/b',
    '/verify/a/b',
    '/console/assets/',
    '/console/assets/app.js',
    '/console/secret.txt',
    '/console/assets/..%2fsecret.txt',
    '/console/assets/%2e%2e/secret.txt',
  ])('leave every other path unknown: %s', async (path) => {
    const response = await get(path);

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'route_not_found' } });
  });

  it('run nothing but files of their own, and connect to the ledger node alone', async () => {
    const policy = (await get('/console')).headers.get('content-security-policy')?.split('; ');

    expect(policy?.[0]).toBe("default-src 'none'");
    expect(policy).toEqual(
      expect.arrayContaining([
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self' https://rpc.example.com",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
        "frame-ancestors 'none'",
        "form-action 'none'",
      ]),
    );
    expect(policy?.join()).not.toMatch(/unsafe|\*|blob:/);
    // Wallets bring their pictures as data.
    expect(policy?.filter((part) => part.includes('data:'))).toEqual(["img-src 'self' data:"]);
  });

  it('give Verify an origin of its own, which may connect anywhere', async () => {
    const { headers } = await get('/verify/job_1');

    const policy = headers.get('content-security-policy')?.split('; ');
    expect(policy).toContain('sandbox allow-scripts');
    expect(policy).toContain('connect-src http: https:');
    expect(policy).toContain("script-src 'self'");
    // Otherwise browsers do not show a document in a sandbox.
    expect(headers.get('cross-origin-opener-policy')).toBe('unsafe-none');
  });

  it('name the ledger node and the program in the document of Verify', async () => {
    const text = await (await get('/verify')).text();

    expect(text).toContain('<meta name="svc-rpc" content="https://rpc.example.com" />');
    expect(text).toMatch(/<meta name="svc-program" content="\w{32,44}" \/>/);
  });

  it('serve hashed files for ever, compressed, to an opaque origin too', async () => {
    const { headers } = await get('/console/assets/app-1a2b.js', {
      origin: 'null',
      'accept-encoding': 'gzip, br',
    });

    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('content-encoding')).toBe('br');
    const read = (accepted: string) =>
      get('/console/assets/app-1a2b.js', { 'accept-encoding': accepted });
    expect(await (await read('gzip;q=0, br')).text()).toBe(SCRIPT);
    for (const accepted of ['identity', 'gzip', 'br;q=0']) {
      const plain = await read(accepted);
      expect(plain.headers.get('content-encoding')).toBeNull();
      expect(await plain.text()).toBe(SCRIPT);
    }
    expect((await get('/console/assets/app-1a2b.js.br')).status).toBe(404);
  });

  it('have a browser ask at once for what they read, and for no more', async () => {
    const readsOf = async (path: string, headers = {}) =>
      ((await get(path, headers)).headers.get('link') ?? '')
        .split(', ')
        .map(
          (link) => /^<\/console\/api(.*)>; rel=preload; as=fetch; crossorigin$/.exec(link)?.[1],
        );
    const signedIn = { cookie: scene.cookie };

    expect(await readsOf('/console')).toEqual(['/session', '/config', '/network', '/models']);
    expect(await readsOf('/console/jobs')).toEqual(['/session', '/config']);
    const ofJobs = ['/session', '/config', '/account', '/models', '/job-counts', '/jobs?limit=100'];
    expect(await readsOf('/console/jobs', signedIn)).toEqual(ofJobs);
    // The list is another one then.
    expect(await readsOf('/console/jobs?status=failed', signedIn)).toEqual(ofJobs.slice(0, 3));
    for (const path of APP_PATHS.filter((one) => APP_PAGES[one].access === 'wallet')) {
      for (const read of await readsOf(example(path), signedIn)) {
        const answer = await get(`/console/api${read}`, signedIn);
        // The route is there and admits this reader. Its answer is another test's: here it has no data.
        expect([400, 401, 403, 404]).not.toContain(answer.status);
      }
    }
  });

  it('refuse a build that lacks one of their documents', () => {
    const files = new Map(readPageFiles(folder));
    files.delete('documents/jobsPage.html');
    const deployment = { rpc_url: null, program_id: 'program', development_wallet_url: null };

    expect(() => servePages(express(), files, deployment)).toThrow(
      'The built pages lack documents/jobsPage.html: run npm run build.',
    );
  });
});

describe('without a build', () => {
  it('only the API is served', async () => {
    expect(readPageFiles(join(folder, 'assets'))).toBeUndefined();
    const bare = await openConsoleScene();

    expect((await fetch(`${bare.url}/console`)).status).toBe(404);
    expect((await bare.call('GET /config')).status).toBe(200);
    await bare.close();
  });
});
