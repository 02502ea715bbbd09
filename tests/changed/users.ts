import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { IMPORT, type Import, importsOf, listFiles } from '../tidy/sourceTree.ts';

const isCode = (path: string): boolean => /\.(tsx?|mjs)$/.test(path);
/** What tests and shared helpers of tests consist of. */
export const isOfTests = (path: string): boolean => /^(tests|testing)\//.test(path);

const TEXT = /'([^'\n]+)'|`([^`\n$]+)`/g;

/**
 * @param deleted files that others may still use
 * @returns the files of a checkout, and who uses one. Its importers take a value of it, or are tests
 *   that start it as a process. Its namers have its path, or that of a folder around it, in a text.
 */
export function findUsers(root: string, deleted: readonly string[]) {
  const files = listFiles(root);
  const known = new Set([...files, ...deleted]);
  const folders = new Set([...known].flatMap(foldersOf));
  const sources = new Map(
    files.filter(isCode).map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  );
  const values = new Map(
    [...sources].map(([path, source]) => [
      path,
      importsOf(path, source).filter(({ isType }) => !isType),
    ]),
  );
  const importers = new Map<string, Set<string>>();
  const namers = new Map<string, Set<string>>();

  /** An import, and of an `index.ts` also the files from which it has what is imported. */
  const withOrigins = ({ path, names }: Import): string[] => {
    if (!path.endsWith('/index.ts')) return [path];
    const has = (each: Import, name: string): boolean =>
      each.names?.includes(name) ?? new RegExp(`\\b${name}\\b`).test(sources.get(each.path) ?? '');
    const origins = (values.get(path) ?? []).filter(
      (each) => !names || names.some((name) => has(each, name)),
    );
    return [path, ...origins.flatMap((each) => withOrigins({ ...each, names }))];
  };

  /** Files and folders whose path stands in a text of a source, from its folder or from the root. */
  const namedIn = (path: string, source: string): string[] =>
    [...source.replace(IMPORT, '').matchAll(TEXT)].flatMap(([, quoted, template]) => {
      const text = quoted ?? template ?? '';
      return [join(text), join(dirname(path), text)]
        .map((place) => place.replace(/\/$/, ''))
        .filter(
          (place) =>
            known.has(place) ||
            (text.includes('/') && folders.has(place) && !path.startsWith(`${place}/`)),
        );
    });

  for (const [path, source] of sources) {
    const named = namedIn(path, source);
    const scripts = isOfTests(path) ? named.filter((place) => sources.has(place)) : [];
    for (const place of [...(values.get(path) ?? []).flatMap(withOrigins), ...scripts]) {
      importers.set(place, (importers.get(place) ?? new Set()).add(path));
    }
    for (const place of named) namers.set(place, (namers.get(place) ?? new Set()).add(path));
  }
  return {
    files,
    importers: (path: string): Iterable<string> => importers.get(path) ?? [],
    namers: (path: string): string[] =>
      [path, ...foldersOf(path)].flatMap((place) => [...(namers.get(place) ?? [])]),
  };
}

function foldersOf(path: string): string[] {
  const parent = dirname(path);
  return parent === '.' ? [] : [parent, ...foldersOf(parent)];
}
