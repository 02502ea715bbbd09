import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';

/** The checkout's root, and its files as git lists them: tracked ones, and new ones not ignored. */
export const ROOT = join(import.meta.dirname, '../..');

export function listFiles(root = ROOT): string[] {
  const listing = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  return listing.split('\n').filter((path) => path !== '' && existsSync(join(root, path)));
}

export const readSource = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** Folders that are not the product: what tests, measures and shows it. */
const BESIDE_PRODUCT = /^(tests|bench|examples|testing|\.ci)\//;

/** TypeScript and Rust that users run, without what is generated. */
export function isProduct(path: string): boolean {
  return (
    /\.(tsx?|mjs|rs)$/.test(path) && !BESIDE_PRODUCT.test(path) && !path.includes('/generated/')
  );
}

/** Sources with comments, strings or names of ours. Generated files are left out. */
export function hasProse(path: string): boolean {
  return /\.(tsx?|m[jt]s|rs|sql|sh)$|^\.ci\/run$/.test(path) && !path.includes('/generated/');
}

/** What one statement, or one `import()`, takes from a file of the checkout. */
export interface Import {
  path: string;
  /** The names that it takes, types left out; undefined: everything. */
  names: string[] | undefined;
  /** Whether it is gone once types are stripped. */
  isType: boolean;
}

export const IMPORT =
  /^\s*(?:import|export)\b(?:(\s+type\b)?([^'"`;=]*?)\bfrom)?\s*'(\.[^']+)'|(\btypeof )?\bimport\('(\.[^']+)'\)/gm;

/** @param path of the file, below the root */
export function importsOf(path: string, source = readSource(path)): Import[] {
  return [...source.matchAll(IMPORT)]
    .map(([, type, clause = '', from, typeOf, loaded]) => ({
      path: join(dirname(path), from ?? loaded ?? ''),
      names: /^\s*\{([^}]*)\}\s*$/
        .exec(clause)?.[1]
        ?.split(',')
        .filter((name) => !/^\s*(type\b|$)/.test(name))
        .flatMap((name) => name.trim().split(' as ')),
      isType: (type ?? typeOf) !== undefined,
    }))
    .filter((each) => extname(each.path) !== '');
}

/** Each file with those it imports, types too. */
export function importGraph(paths: readonly string[]): Map<string, string[]> {
  return new Map(paths.map((path) => [path, importsOf(path).map((each) => each.path)]));
}

/**
 * Pairs of folders that import each other. Two folders of a part that lie beside each other count
 * with everything below them, a folder and one below it with their own files. An `index.ts` is the
 * door of its folder, not a part of it, and is left out.
 */
export function mutualFolders(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const uses = new Set<string>();
  for (const [path, targets] of graph) {
    if (path.endsWith('/index.ts')) continue;
    for (const target of targets) {
      const [one, other] = [dirname(path), dirname(target)];
      if (one !== other) uses.add(`${one} ${other}`).add(whereTheyPart(one, other).join(' '));
    }
  }
  return [...uses]
    .map((use) => use.split(' ') as [string, string])
    .filter(([one, other]) => one < other && uses.has(`${other} ${one}`))
    .map(([one, other]) => `${one} <-> ${other}`);
}

/** The two folders beside each other that contain them; themselves, where there are none in a part. */
function whereTheyPart(one: string, other: string): [string, string] {
  const [ones, others] = [one.split('/'), other.split('/')];
  const depth = ones.findIndex((name, at) => name !== others[at]);
  if (depth < 1 || depth >= others.length) return [one, other];
  return [ones.slice(0, depth + 1).join('/'), others.slice(0, depth + 1).join('/')];
}
