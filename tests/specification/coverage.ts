import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFaults } from './checkRules.ts';
import { rules } from './rules.ts';

/** How many rules of the published interface the tests show. */
export interface Coverage {
  rules: number;
  shown: number;
  /** A line for each rule that is listed as open, with its reason. */
  open: readonly string[];
  /** A line for each rule without a test that is not listed as open, and for each wrong title. */
  faults: readonly string[];
}

export function readCoverage(): Coverage {
  const tests = join(import.meta.dirname, '..');
  const paths = globSync('**/*.test.ts', { cwd: tests, exclude: ['specification/**'] });
  const sources = new Map(paths.map((path) => [path, readFileSync(join(tests, path), 'utf8')]));
  const open = rules.filter((rule) => rule.open !== undefined);
  return {
    rules: rules.length,
    shown: rules.length - open.length,
    open: open.map(({ id, open: reason }) => `${id}: ${reason}`),
    faults: findFaults(rules, sources),
  };
}
