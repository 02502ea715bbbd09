import type { Rule } from './rule.ts';
import { type FoundTest, SEPARATOR } from './testTitles.ts';

/**
 * What is wrong with a list of rules.
 *
 * @param testsIn the tests of a file by its name in a reference; undefined when there is none
 * @returns a sentence for each fault; none when every rule is shown, or said to be open
 */
export function findFaults(
  rules: readonly Rule[],
  testsIn: (file: string) => readonly FoundTest[] | undefined,
): string[] {
  const ids = rules.map(({ id }) => id);
  const repeated = ids.filter((id, index) => ids.indexOf(id) !== index);
  return [
    ...repeated.map((id) => `${id}: there is another rule of this name`),
    ...rules.flatMap(({ id, shown }) => {
      if ('open' in shown) return shown.open === '' ? [`${id}: does not say what is open`] : [];
      if (shown.length === 0) return [`${id}: names no test`];
      return shown.flatMap((reference) => {
        const fault = faultOf(reference, testsIn);
        return fault === undefined ? [] : [`${id}: ${fault}: ${reference}`];
      });
    }),
  ];
}

function faultOf(
  reference: string,
  testsIn: (file: string) => readonly FoundTest[] | undefined,
): string | undefined {
  const [file = '', ...titles] = reference.split(SEPARATOR);
  const tests = testsIn(file);
  if (!tests) return 'no such test file';
  const wanted = titles.join(SEPARATOR);
  const found = tests.filter(({ title, fullTitle }) => wanted === title || wanted === fullTitle);
  if (found.length === 0) return 'no such test';
  if (found.length > 1) return 'several tests have this title';
  return found[0]?.isEmpty ? 'the test is skipped or empty' : undefined;
}
