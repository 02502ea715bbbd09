import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * How long one test may take, by what its file starts; a test that hangs shows after that. Each is
 * many times what the slowest test of its kind takes on a machine that does nothing else.
 */
const LIMITS: readonly { ms: number; starts: RegExp }[] = [
  // A browser, the whole stack, or programs of others.
  {
    ms: 120_000,
    starts: /^(testing\/browser|tests\/(stack\/startedStack|docs\/|deploy\/|package\/))/,
  },
  // The running service, or any process.
  { ms: 60_000, starts: /^(testing\/(service|childProcess)|node:child_process$)/ },
  // A database, a ledger, or the whole tree.
  {
    ms: 30_000,
    starts: /^(testing\/(database|ledger|indexer|kit|chain)|localnet\/|litesvm$|tests\/tidy\/)/,
  },
];
const PURE_MS = 5_000;

/** @param testPath of a test file @returns milliseconds */
export function timeLimitMs(testPath: string): number {
  const started = [...imports(testPath)];
  return LIMITS.find(({ starts }) => started.some((name) => starts.test(name)))?.ms ?? PURE_MS;
}

/** The file, and what it and its scaffolding import: paths from the root, or packages. */
function imports(path: string, found = new Set<string>()): Set<string> {
  const name = relative(ROOT, path);
  if (found.has(name)) return found;
  found.add(name);
  if (!/^test(s|ing)\//.test(name) || !existsSync(path)) return found;
  for (const [, specifier = ''] of readFileSync(path, 'utf8').matchAll(
    /(?:from|import) '([^']+)'/g,
  )) {
    if (specifier.startsWith('.')) imports(join(dirname(path), specifier), found);
    else found.add(specifier);
  }
  return found;
}
