import { existsSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Config } from '@jest/types';
import leven from 'leven';
import { testFolderOf } from '../changed/selectTests.ts';

/** Flags by which jest looks for the tests of a change. It follows no import out of `tests`. */
const BY_CHANGE = [
  'onlyChanged',
  'lastCommit',
  'changedSince',
  'findRelatedTests',
  'watch',
] as const;

type Given = Pick<Config.Argv, '_'> &
  Partial<Pick<Config.Argv, (typeof BY_CHANGE)[number] | 'runTestsByPath' | 'testPathPatterns'>>;

/**
 * @param given what jest was started with
 * @param tests the paths of all test files below `root`
 * @returns why it finds nothing, with what would; undefined when each of its paths finds a test
 */
export function refusalOf(
  given: Given,
  { root, tests }: { root: string; tests: readonly string[] },
): string | undefined {
  const flag = BY_CHANGE.find((name) => given[name]);
  if (flag) {
    return `--${flag} finds no test of the product: use npm test -- --changed [commit].`;
  }
  const patterns = [...given._, ...(given.testPathPatterns ?? [])].map(String);
  const isMatch = given.runTestsByPath ? isPath : isPattern;
  const lost = patterns.find((pattern) => !tests.some((test) => isMatch(pattern, test, root)));
  if (lost === undefined) return undefined;
  return `No test file matches ${lost}. ${nearestTo(lost, { root, tests })}`;
}

const isPath = (path: string, test: string, root: string): boolean =>
  relative(root, resolve(root, path)) === test;

/** As jest compares: without regard to case, and `./` is the root. */
function isPattern(pattern: string, test: string, root: string): boolean {
  const regex = new RegExp(pattern.replace(/^\.\//, '^'), 'i');
  return regex.test(test) || regex.test(join(root, test));
}

function nearestTo(
  lost: string,
  { root, tests }: { root: string; tests: readonly string[] },
): string {
  const folders = [...new Set(tests.flatMap(foldersOf))];
  const path = relative(root, resolve(root, lost));
  const ofProduct = testFolderOf(path).replace(/\/$/, '');
  if (existsSync(join(root, path)) && folders.includes(ofProduct)) {
    return `The tests of ${path} are in ${ofProduct}: npm test -- --changed chooses among them.`;
  }
  const [nearest] = [...folders, ...tests].toSorted(
    (one, other) => distance(path, one) - distance(path, other),
  );
  return `The nearest is ${nearest}.`;
}

/** A name alone is compared with the names in every folder. */
function distance(path: string, other: string): number {
  const folder = dirname(path);
  return leven(nameOf(path), nameOf(other)) + (folder === '.' ? 0 : leven(folder, dirname(other)));
}

const nameOf = (path: string): string => basename(path).replace(/(\.test)?\.ts$/, '');

function foldersOf(path: string): string[] {
  const folder = dirname(path);
  return folder === '.' ? [] : [folder, ...foldersOf(folder)];
}
