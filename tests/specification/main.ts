import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFaults } from './checkRules.ts';
import { rules } from './rules.ts';

/**
 * `npm run spec:coverage`: whether every rule of the published interface has a test that shows it.
 * Exit code 0 if each has one or is listed as open, which are printed; else 1.
 */
const tests = join(import.meta.dirname, '..');
const paths = globSync('**/*.test.ts', { cwd: tests, exclude: ['specification/**'] });
const sources = new Map(paths.map((path) => [path, readFileSync(join(tests, path), 'utf8')]));

const faults = findFaults(rules, sources);
const open = rules.filter((rule) => rule.open !== undefined);
const shown = rules.length - open.length;
const lines = [
  ...open.map(({ id, open: reason }) => `open    ${id}: ${reason}`),
  ...faults.map((line) => `FAULT   ${line}`),
  `${rules.length} rules, ${shown} shown by tests, ${open.length} open, ${faults.length} faults`,
];
process.stdout.write(`${lines.join('\n')}\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
