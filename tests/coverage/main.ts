import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFaults } from './checkRules.ts';
import { rules } from './rules.ts';
import { type FoundTest, testsOf } from './testTitles.ts';

/**
 * `npm run spec:coverage`: whether every rule of the published interface has a test that exists.
 * Exit code 0 if each is shown by a test or listed as open, which are printed; else 1.
 */
const cache = new Map<string, FoundTest[] | undefined>();

function testsIn(file: string): FoundTest[] | undefined {
  const path = join(import.meta.dirname, '..', `${file}.test.ts`);
  if (!cache.has(file)) {
    cache.set(file, existsSync(path) ? testsOf(readFileSync(path, 'utf8')) : undefined);
  }
  return cache.get(file);
}

const faults = findFaults(rules, testsIn);
const open = rules.flatMap(({ id, shown }) => ('open' in shown ? [`${id}: ${shown.open}`] : []));
const lines = [
  ...open.map((line) => `open    ${line}`),
  ...faults.map((line) => `FAULT   ${line}`),
  `${rules.length} rules, ${rules.length - open.length} shown by tests, ${open.length} open, ${faults.length} faults`,
];
process.stdout.write(`${lines.join('\n')}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
