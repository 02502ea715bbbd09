import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

export interface PageFile {
  readonly bytes: Buffer;
  readonly type: string;
  /** Its compressed forms; none where compression gains nothing. */
  readonly compressed: Readonly<Partial<Record<Encoding, Buffer>>>;
}

type Encoding = 'br' | 'gzip';

/** The built pages, by their paths in the build's folder. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
};

/**
 * Reads what `npm run build` or a start has built.
 *
 * @returns undefined where nothing was built
 */
export function readPageFiles(folder: string): PageFiles | undefined {
  const read = (path: string) => readIfThere(join(folder, path));
  if (!read('index.html')) return undefined;
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && extname(entry.name) in TYPES)
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  return new Map(
    paths.map((path): [string, PageFile] => [
      path,
      pageFile(path, readFileSync(join(folder, path)), {
        br: read(`${path}.br`),
        gzip: read(`${path}.gz`),
      }),
    ]),
  );
}

/** @throws Error where the build lacks it */
export function requireFile(files: PageFiles, path: string): PageFile {
  const file = files.get(path);
  if (!file) throw new Error(`The built pages lack ${path}: run npm run build.`);
  return file;
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** @param path its ending gives the type */
function pageFile(
  path: string,
  bytes: Buffer,
  { br, gzip }: Partial<Record<Encoding, Buffer | undefined>>,
): PageFile {
  const type = TYPES[extname(path)] ?? 'application/octet-stream';
  return { bytes, type, compressed: { ...(br && { br }), ...(gzip && { gzip }) } };
}

/** A filled-in document, which needs its own compression. */
export function filledDocument(text: string): PageFile {
  const bytes = Buffer.from(text);
  const compressed = { br: brotliCompressSync(bytes), gzip: gzipSync(bytes) };
  return pageFile('filled.html', bytes, compressed);
}

/** The smallest form that a client takes. @returns undefined where that is the file as it is */
export function chooseEncoding(file: PageFile, acceptEncoding = ''): Encoding | undefined {
  return (['br', 'gzip'] as const).find(
    (name) => file.compressed[name] && accepts(acceptEncoding, name),
  );
}

function accepts(acceptEncoding: string, encoding: string): boolean {
  return acceptEncoding
    .split(',')
    .some((part) => part.trim().split(';')[0] === encoding && !/;\s*q=0(\.0*)?\s*$/.test(part));
}
