import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** One file of the built pages. */
export interface PageFile {
  readonly bytes: Buffer;
  readonly type: string;
  /** The bytes as a client takes them, made once. @returns undefined where it takes them as they are */
  compressed(acceptEncoding: string | undefined): Promise<Compressed | undefined>;
}

interface Compressed {
  readonly encoding: 'br' | 'gzip';
  readonly bytes: Buffer;
}

/** The built pages: their documents, and the files below `assets/` by their paths. */
export interface PageFiles {
  readonly app: PageFile;
  readonly verify: PageFile;
  readonly assets: ReadonlyMap<string, PageFile>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
};

/** Fonts and images are compressed already. */
const COMPRESSIBLE = /\.(html|js|css|svg|json)$/;

/**
 * Reads what `npm run build` or a start has built.
 *
 * @returns undefined where nothing was built
 * @throws Error where the build is not whole
 */
export function readPageFiles(folder: string): PageFiles | undefined {
  const app = readIfThere(join(folder, 'index.html'));
  if (!app) return undefined;
  const verify = readIfThere(join(folder, 'verify.html'));
  if (!verify) throw new Error('The built pages lack verify.html: run npm run build.');
  const assetsFolder = join(folder, 'assets');
  const paths = readdirSync(assetsFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && extname(entry.name) in TYPES)
    .map((entry) => join(entry.parentPath, entry.name));
  const assets = paths.map((path): [string, PageFile] => [
    relative(assetsFolder, path),
    pageFile(path, readFileSync(path)),
  ]);
  return {
    app: pageFile('index.html', app),
    verify: pageFile('verify.html', verify),
    assets: new Map(assets),
  };
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** @param path tells its type by its ending */
export function pageFile(path: string, bytes: Buffer): PageFile {
  const made = new Map<Compressed['encoding'], Promise<Buffer>>();
  return {
    bytes,
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    async compressed(acceptEncoding = '') {
      if (!COMPRESSIBLE.test(path)) return undefined;
      const encoding = (['br', 'gzip'] as const).find((name) => accepts(acceptEncoding, name));
      if (!encoding) return undefined;
      const making = made.get(encoding) ?? compress(encoding, bytes);
      made.set(encoding, making);
      return { encoding, bytes: await making };
    },
  };
}

function accepts(acceptEncoding: string, encoding: string): boolean {
  return acceptEncoding
    .split(',')
    .some((part) => part.trim().split(';')[0] === encoding && !/;\s*q=0(\.0*)?\s*$/.test(part));
}

/** Made once, so that the best compression costs nothing later. */
function compress(encoding: Compressed['encoding'], bytes: Buffer): Promise<Buffer> {
  if (encoding === 'gzip') return promisify(gzip)(bytes, { level: 9 });
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return promisify(brotliCompress)(bytes, { params });
}
