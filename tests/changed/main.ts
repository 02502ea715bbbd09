import { execFileSync } from 'node:child_process';
import { selectTests } from './selectTests.ts';

// `npm test -- --changed [ref]`: jest on the tests that are near to what has changed since that commit,
// or since the last one. `--changed=all` adds those that reach it through the running service.

/** A reason that more tests have takes one line. */
const LINES_MAX = 5;

const root = process.cwd();
// Beside what jest writes with --json.
const print = (text: string): void => void process.stderr.write(`${text}\n`);

/** @returns what git lists, separated by NUL; undefined after an error */
function git(...args: string[]): string[] | undefined {
  try {
    const out = execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
    return out.split('\0').filter((path) => path !== '');
  } catch {
    return undefined;
  }
}

const args = process.argv.slice(2);
const at = args.findIndex((arg) => /^--changed(=all)?$/.test(arg));
const isAll = args[at] === '--changed=all';
const hasRef = /^[^-]/.test(args[at + 1] ?? '');
const [, ref = 'HEAD'] = args.splice(at, hasRef ? 2 : 1);
const tracked = git('diff', '--name-only', '--no-renames', '--relative', '-z', `${ref}^{commit}`);
const added = git('ls-files', '--others', '--exclude-standard', '-z');
if (!tracked || !added) {
  print(
    `There is no commit "${ref}": --changed takes a branch, a tag or a commit of this checkout.`,
  );
  process.exit(1);
}

const changed = [...tracked, ...added];
const { chosen, runsService, leftOut, alone } = selectTests({ root, changed, isAll });
for (const [reason, tests] of Map.groupBy(chosen.keys(), (test) => chosen.get(test))) {
  if (tests.length > LINES_MAX) print(`${tests.length} test files  ${reason}`);
  else for (const test of tests) print(`${test}  ${reason}`);
}
for (const path of alone) print(`${path}: no test is near to it`);
print(`changed: ${changed.length}, chosen: ${chosen.size}, left to --changed=all: ${leftOut}\n`);
// Without any file, jest would run all.
if (chosen.size > 0) {
  if (runsService) await import(new URL('../freshPages.mjs', import.meta.url).href);
  process.env.NODE_ENV ??= 'test';
  const { run } = await import('jest');
  await run([...args, '--runTestsByPath', ...chosen.keys()]);
}
