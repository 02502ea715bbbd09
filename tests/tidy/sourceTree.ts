import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';

/** The checkout's root, and its files as git lists them: tracked ones, and new ones not ignored. */
export const ROOT = join(import.meta.dirname, '../..');

export function listFiles(): string[] {
  const listing = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return listing.split('\n').filter((path) => path !== '' && existsSync(join(ROOT, path)));
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

const SPECIFIER =
  /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?from\s*'(\.[^']+)'|import\('(\.[^']+)'\)/g;

/** Files of the checkout that this one imports, types too. */
export function importsOf(path: string): string[] {
  return [...readSource(path).matchAll(SPECIFIER)]
    .map((match) => join(dirname(path), match[1] ?? match[2] ?? ''))
    .filter((target) => extname(target) !== '');
}

/** Each file with those it imports. */
export function importGraph(paths: readonly string[]): Map<string, string[]> {
  return new Map(paths.map((path) => [path, importsOf(path)]));
}

/**
 * Pairs of folders that import each other; a folder's own subfolders count as others. An `index.ts`
 * is the door of its folder, not a part of it, and is left out.
 */
export function mutualFolders(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const uses = new Set<string>();
  for (const [path, targets] of graph) {
    if (path.endsWith('/index.ts')) continue;
    for (const target of targets) {
      if (dirname(path) !== dirname(target)) uses.add(`${dirname(path)} ${dirname(target)}`);
    }
  }
  return [...uses]
    .map((use) => use.split(' ') as [string, string])
    .filter(([one, other]) => one < other && uses.has(`${other} ${one}`))
    .map(([one, other]) => `${one} <-> ${other}`);
}

/** Circles of imports, each as the files on its way. */
export function importCircles(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const circles: string[][] = [];
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (path: string): void => {
    if (done.has(path)) return;
    const at = way.indexOf(path);
    if (at >= 0) {
      circles.push(way.slice(at));
      return;
    }
    way.push(path);
    for (const target of graph.get(path) ?? []) visit(target);
    way.pop();
    done.add(path);
  };
  for (const path of graph.keys()) visit(path);
  return circles;
}
