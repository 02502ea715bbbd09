import { dirname } from 'node:path';
import { findUsers, isOfTests } from './users.ts';

/** Tables of commands: a command is loaded when it is called, with what it needs. */
const COMMANDS = /^cli\/(program|verbs)\.ts$/;

/** Where so much comes together that what uses it is not near to each part of it. */
const TIES = [
  COMMANDS,
  /(^|\/)(main|start)\.ts$/,
  /^(stack|bin|testing)\//,
  // What imports from one counts as importing the files behind it that it needs.
  /\/index\.ts$/,
];

/** What runs the service, or a process of it; a local ledger alone starts at once. */
const SERVICE = /^(api|indexer|worker|stack)\/(main|start|launch)\.|^testing\/service\//;

/** What every test runs in. */
const SHARED = /^(package(-lock)?\.json|jest\.config\.mjs)$|^testing\/(jest|database\/server)\//;

/** How the paths of a file's tests begin, where that is not its own first folder. */
const TEST_FOLDERS: readonly [files: RegExp, tests: string][] = [
  [/\.md$/, 'tests/docs/'],
  [/^(bin\/|tsconfig\.build)/, 'tests/package/'],
  [/^api\/console\//, 'tests/console/'],
  [/^programs\/client\/verify\//, 'tests/auditors/'],
  [/^programs\/client\//, 'tests/client/'],
  [/^(programs\/|Cargo|Anchor)/, 'tests/programs/'],
  [/^webhookOperations\//, 'tests/indexer/webhooks/'],
  [/^examples\//, 'tests/package/examples'],
];

/** They read every file. */
const TREE_TESTS = ['tests/tidy/tidy.test.ts', 'tests/tidy/weight.test.ts'];

/**
 * Chooses the tests that are near to a change. They import a changed file, at any distance but not
 * through a tie, or use what names it, or belong to its folder.
 *
 * @param options.changed paths below `root`, deleted ones too
 * @param options.isAll also those that reach a changed file through ties
 * @returns the chosen test files with their reasons, and whether one of them runs the service. Also
 *   how many others reach a changed file, and the changed files to which no test is near.
 */
export function selectTests(options: { root: string; changed: readonly string[]; isAll: boolean }) {
  const { root, changed, isAll } = options;
  const { files, importers, namers } = findUsers(root, changed);
  const usersOf = (path: string) => [...importers(path), ...namers(path)];
  const tests = new Set(files.filter((path) => /^tests\/.*\.test\.ts$/.test(path)));
  const services = files.filter((path) => SERVICE.test(path));
  const running = reach(services, usersOf, (user) => !COMMANDS.test(user));
  const chosen = new Map<string, string>();
  const far = new Map<string, string>();

  /** @returns whether any test is near to the file */
  function choose(path: string): boolean {
    const near = new Map<string, string>();
    const add = (test: string, reason: string): void => {
      if (tests.has(test) && !near.has(test)) near.set(test, reason);
    };
    const ofFolder = [...tests].filter((test) => test.startsWith(testFolderOf(path)));
    const quiet = ofFolder.filter((test) => !running.has(test));

    // A snapshot is a part of its test.
    add(path.replace(/__snapshots__\/|\.snap$/g, ''), 'changed');
    const naming = new Set(namers(path));
    for (const [user, used] of [
      ...reach([path], importers, (each) => !TIES.some((tie) => tie.test(each))),
      ...reach(naming, importers, isInTests),
      ...[...naming].map((namer) => [namer, path] as const),
    ]) {
      // What runs the service is slow: it counts as a test of its folder alone.
      if (running.has(user) && !ofFolder.includes(user) && !isOfTests(path)) continue;
      add(user, used === path ? `uses ${path}` : `uses ${path} through ${used}`);
    }
    const folder = dirname(path);
    const beside = files.filter((other) => dirname(other) === folder);
    const usersBeside = reach(beside, importers, isInTests);
    for (const test of quiet) if (usersBeside.has(test)) add(test, `uses ${folder}/`);

    // What no code imports or reads, such as Rust and documents, and what is reached by ties alone,
    // such as SQL by each test's database.
    const reaching = [...reach([path], usersOf, () => true).keys()].filter((user) =>
      tests.has(user),
    );
    const isCode = /^(?!examples\/).*\.(tsx?|mjs|sql)$/.test(path);
    const isReached = near.size === 0 || path.endsWith('.sql');
    for (const test of quiet) {
      if (isCode && !(isReached && reaching.includes(test))) continue;
      add(test, `in ${testFolderOf(path)}, for ${path}`);
    }
    const isUnread = !isCode || reaching.length === 0;
    for (const test of [...reaching, ...(SHARED.test(path) ? tests : isUnread ? ofFolder : [])]) {
      far.set(test, `reaches ${path} through the running service`);
    }
    for (const [test, reason] of near) if (!chosen.has(test)) chosen.set(test, reason);
    return near.size > 0;
  }

  const alone = changed.filter((path) => !choose(path));
  const readers = TREE_TESTS.filter((test) => changed.length > 0 && tests.has(test));
  for (const test of readers) chosen.set(test, 'reads every file');
  const rest = [...far].filter(([test]) => !chosen.has(test));
  for (const [test, reason] of isAll ? rest : []) chosen.set(test, reason);
  const runsService = [...chosen.keys()].some((test) => running.has(test));
  return { chosen, runsService, leftOut: isAll ? 0 : rest.length, alone };
}

const isInTests = (path: string): boolean => path.startsWith('tests/');

/** Where the tests of a file of the product are. */
export const testFolderOf = (path: string): string =>
  TEST_FOLDERS.find(([pattern]) => pattern.test(path))?.[1] ?? `tests/${path.split('/')[0]}/`;

/** All that reaches one of these files, each with the file that it uses itself on its way there. */
function reach(
  paths: Iterable<string>,
  usersOf: (path: string) => Iterable<string>,
  passes: (user: string) => boolean,
): Map<string, string> {
  const found = new Map<string, string>();
  const waiting = [...paths];
  for (let used = waiting.shift(); used !== undefined; used = waiting.shift()) {
    for (const user of usersOf(used)) {
      if (found.has(user)) continue;
      found.set(user, used);
      if (passes(user)) waiting.push(user);
    }
  }
  return found;
}
