import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Plugin } from 'vite';

/** Fonts and images are compressed already. */
const COMPRESSIBLE = /\.(html|js|css|svg)$/;

/** Writes each file of the build compressed too, as `.br` and `.gz`, so that no request waits for that. */
export const compressedFiles: Plugin = {
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
