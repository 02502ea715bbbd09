import { globSync } from 'node:fs';
import { buildArgv, run } from 'jest';
import { refusalOf } from './refusal.ts';

// `npm test`: jest, unless what it is given finds nothing. Jest itself takes one match for all of its
// paths, and succeeds where it finds no test for a change. Without a path it runs the first list of
// tests/lists.mjs, `npm run test:all` all, and `npm run test:all -- --rest` what the first leaves out.

const root = process.cwd();
const args = process.argv.slice(2).filter((arg) => arg !== '--rest');
const isRest = args.length < process.argv.length - 2;
process.env.NODE_ENV ??= 'test';
// What jest does not know is refused by its own words, below.
const given = await buildArgv(args).catch(() => undefined);
const tests = globSync('tests/**/*.test.ts', { cwd: root });
const refusal = given && refusalOf(given, { root, tests });
if (refusal) {
  process.stderr.write(`${refusal}\n`);
  process.exit(1);
}
const isNamed = given === undefined || given._.length > 0 || given.testPathPatterns !== undefined;
process.env.TESTS_LIST = isRest ? 'rest' : isNamed ? 'all' : (process.env.TESTS_LIST ?? 'first');
await import(new URL('../freshPages.mjs', import.meta.url).href);
await run(args);
