import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ownFolder } from '../../testing/ownFolder.ts';
import { type ServedApp, serveApp } from './serveApp.ts';

const publicUrl = 'https://api.example.com';
const bytes = Buffer.from('what npm packed');
const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
const file = 'cli-0.1.0-0123456789abcdef.tgz';
const listed = { key: 'cli', name: '@scope/cli', version: '0.1.0', file, bytes: bytes.length };

const packagesFolder = ownFolder('svc-tarballs');
let app: ServedApp;
let unbuilt: ServedApp;

beforeAll(async () => {
  writeFileSync(join(packagesFolder, 'index.json'), JSON.stringify([{ ...listed, integrity }]));
  writeFileSync(join(packagesFolder, file), bytes);
  writeFileSync(join(packagesFolder, 'unlisted.tgz'), 'of another release');
  app = await serveApp({ publicUrl, packagesFolder });
  unbuilt = await serveApp({ publicUrl, packagesFolder: join(packagesFolder, 'none') });
});

afterAll(async () => {
  await app?.close();
  await unbuilt?.close();
});

const read = (path: string, { url } = app) => fetch(`${url}/packages/${path}`);

describe('/packages/', () => {
  it('serves the listed bytes under an address that never changes', async () => {
    const response = await read(file);
    expect(response.headers.get('cache-control')).toContain('immutable');
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
  });

  it.each(['unlisted.tgz', 'cli-0.0.9-aa.tgz', '..%2Findex.json', 'client'])(
    'serves nothing that is not listed, and lets no cache keep that, as %s',
    async (path) => {
      const response = await read(path);
      expect([response.status, response.headers.get('cache-control')]).toEqual([404, 'no-store']);
      expect(await response.json()).toMatchObject({
        error: { message: expect.stringContaining('GET /packages/ lists the packages') },
      });
    },
  );

  it.each(['writes the list', 'fails'])('waits for a build that runs, until it %s', async (end) => {
    const folder = join(packagesFolder, end);
    mkdirSync(folder);
    const build = spawn(process.execPath, ['-e', 'process.stdin.resume()']);
    const building = await serveApp({
      ...{ publicUrl, packagesFolder: folder, packagesBuildId: build.pid },
    });
    try {
      let isAnswered = false;
      const answers = ['', 'cli', 'index.json'].map(async (path) => {
        const { status } = await read(path, building);
        isAnswered = true;
        return status;
      });
      // Another request is answered before one that waits.
      await read('none/none', building);
      expect(isAnswered).toBe(false);
      const isBuilt = end === 'writes the list';
      if (isBuilt)
        writeFileSync(join(folder, 'index.json'), JSON.stringify([{ ...listed, integrity }]));
      build.stdin.end();
      await once(build, 'exit');
      expect(await Promise.all(answers)).toEqual(Array(3).fill(isBuilt ? 200 : 503));
    } finally {
      build.kill();
      await building.close();
    }
  });

  it.each(['', 'cli', 'index.json'])(
    'names npm run build where none is built (%s)',
    async (path) => {
      const response = await read(path, unbuilt);
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '10']);
      expect(await response.text()).toContain('npm run build');
    },
  );
});
