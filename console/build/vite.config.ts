import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';
import { defineConfig } from 'vite';
import { readAccess } from '../../api/contracts/index.ts';
import { pageDocuments } from './documents.ts';

/** Fonts and images are compressed already. */
const COMPRESSIBLE = /\.(html|js|css|svg)$/;

/** Writes each file of the build compressed too, as `.br` and `.gz`, so that no request waits for that. */
const compressedFiles: Plugin = {
  name: 'compressed-files',
  writeBundle: {
    order: 'post',
    sequential: true,
    async handler({ dir = '' }) {
      const entries = await readdir(dir, { recursive: true, withFileTypes: true });
      const paths = entries
        .filter((entry) => entry.isFile() && COMPRESSIBLE.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name));
      await Promise.all(paths.map(compress));
    },
  },
};

async function compress(path: string): Promise<void> {
  const bytes = await readFile(path);
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  await Promise.all([
    promisify(brotliCompress)(bytes, { params }).then((made) => writeFile(`${path}.br`, made)),
    promisify(gzip)(bytes, { level: 9 }).then((made) => writeFile(`${path}.gz`, made)),
  ]);
}

const ROOT = join(import.meta.dirname, '..');
const BASE = '/console/';

/** Files have different names, so that classes have too. The documents know them by this. */
const classOf = (name: string, path: string) => `${basename(path, '.module.css')}_${name}`;

/**
 * What every page of the app needs comes in two files: a file for each module would take a browser
 * longer than their bytes do. Dialogs and what signs transactions are left to pages that have them.
 * What the start imports is by itself, so that it runs without them.
 */
const CHUNKS = [
  { name: 'early', test: /console\/screen\/afterPaint\.|preload-helper/, priority: 3 },
  {
    name: 'libraries',
    test: /node_modules\/(react|react-dom|scheduler|wouter|regexparam|@tanstack\/(query-core|react-query)|@wallet-standard)\//,
    priority: 2,
  },
  {
    name: 'common',
    test: /console\/(design\/(?!dialog|confirm|dayStrip)|screen\/|data\/|session\/(?!signInDialog)|wallet\/(?!development)|app\/(navigation|layout\.module)|ledger\/pending\.)/,
    priority: 1,
  },
];

/** Builds the pages into `console/dist`, which the API serves below /console. */
export default defineConfig({
  root: ROOT,
  base: BASE,
  publicDir: false,
  define: { READ_ACCESS: JSON.stringify(readAccess) },
  plugins: [pageDocuments(BASE, classOf), compressedFiles],
  // The pages use the client as browsers get it.
  resolve: { conditions: ['browser', 'module', 'import', 'default'] },
  // It is the same in development.
  oxc: { jsx: { runtime: 'automatic', importSource: '#console', development: false } },
  css: { modules: { generateScopedName: (name, path) => classOf(name, path.replace(/\?.*/, '')) } },
  build: {
    outDir: join(ROOT, 'dist'),
    emptyOutDir: true,
    target: 'es2022',
    // The policy of the pages takes no data: URL.
    assetsInlineLimit: 0,
    // All styles compressed take less than a round trip, and Vite never retries a style that failed.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      onwarn(warning, warn) {
        // The directive matters for servers alone.
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') warn(warning);
      },
      output: { codeSplitting: { groups: CHUNKS } },
      input: ['index.html', 'verify.html'].map((name) => join(ROOT, name)),
    },
  },
});
