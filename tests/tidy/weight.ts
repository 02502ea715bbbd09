import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles, ROOT, readSource } from './sourceTree.ts';

/** Lines of each top folder, with blanks and comments. The program's own tests count apart. */
export type Weights = Record<string, number>;

const FILE = 'tests/tidy/weight.json';
/** Files that people write and read as code. Recorded answers and what is generated do not count. */
const CODE = /\.(tsx?|[cm]?[jt]s|rs|py|sql|sh|css)$/;
const RUST_TESTS = 'programs/escrow/tests';

/** @returns how many lines each folder has now */
export function weigh(): Weights {
  const weights: Weights = {};
  for (const path of listFiles()) {
    if (!CODE.test(path) || path.includes('/generated/') || !path.includes('/')) continue;
    const top = path.split('/')[0] as string;
    const folder = path.startsWith(`${RUST_TESTS}/`) ? RUST_TESTS : top;
    weights[folder] = (weights[folder] ?? 0) + readSource(path).split('\n').length - 1;
  }
  return Object.fromEntries(
    Object.entries(weights).sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** @returns the most that each folder may have */
export const readLimits = (): Weights => JSON.parse(readFileSync(join(ROOT, FILE), 'utf8'));

/** Writes down what has become lighter, and folders that are new. Nothing is raised by it. */
export function lowerLimits(): void {
  const limits = readLimits();
  const now = weigh();
  const lowered = Object.entries(now).map(([folder, lines]) => [
    folder,
    Math.min(lines, limits[folder] ?? lines),
  ]);
  writeFileSync(join(ROOT, FILE), `${JSON.stringify(Object.fromEntries(lowered), null, 2)}\n`);
}

/** Every time that a limit was raised, in commits or in the files as they are, as the changelog says it. */
export function raises(): string[] {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  const commits = git('log', '--format=%H', '--', FILE).split('\n').filter(Boolean);
  const versions = [
    ...commits.reverse().map((commit) => JSON.parse(git('show', `${commit}:${FILE}`)) as Weights),
    readLimits(),
  ];
  return versions.flatMap((version, index) =>
    Object.entries(version).flatMap(([folder, lines]) => {
      const before = versions[index - 1]?.[folder] ?? lines;
      return lines > before ? [`\`${folder}\` +${lines - before} lines`] : [];
    }),
  );
}
