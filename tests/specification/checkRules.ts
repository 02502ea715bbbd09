import type { Rule } from './rules.ts';

/** An id in brackets, before the quote that ends a title or another id. */
const ID = /\[([a-z][a-z-]*\.[a-z0-9-]+)\](?=(?: \[[a-z.0-9-]+\])*['"`])/g;
const SKIPPED = /\b(?:x?(?:it|test|describe)\.(?:skip|todo)|xit|xdescribe)\(\s*['"`][^'"`]*\[[a-z]/;

/**
 * What is wrong between the rules and the titles of tests.
 *
 * @param sources of test files, by their paths
 * @returns a sentence for each fault; none when every rule is shown, or said to be open
 */
export function findFaults(rules: readonly Rule[], sources: ReadonlyMap<string, string>): string[] {
  const shown = new Set<string>();
  const faults: string[] = [];
  const ids = new Set(rules.map(({ id }) => id));
  for (const [path, source] of sources) {
    if (SKIPPED.test(source)) faults.push(`${path}: a skipped test shows no rule`);
    for (const [, id = ''] of source.matchAll(ID)) {
      shown.add(id);
      if (!ids.has(id)) faults.push(`${path}: no rule has the id ${id}`);
    }
  }
  if (ids.size < rules.length) faults.push('two rules have the same id');
  for (const { id, open } of rules) {
    if (open === '') faults.push(`${id}: does not say what is open`);
    if (open === undefined && !shown.has(id)) faults.push(`${id}: no test shows it`);
    if (open !== undefined && shown.has(id)) faults.push(`${id}: is shown, and said to be open`);
  }
  return faults;
}
