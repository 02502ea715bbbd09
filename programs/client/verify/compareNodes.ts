import type { Check } from './check.ts';

/** How the checks by two nodes differ, a sentence each; of what each found, its verdict and transactions. */
export function compareNodes(one: readonly Check[], other: readonly Check[]): string[] {
  const others = new Map(other.map((check) => [check.name, check]));
  return one.flatMap((check) => {
    const its = others.get(check.name);
    if (its?.verdict !== check.verdict) {
      return `${check.name} ${words(check)} by the first node, and ${words(its)} by the second.`;
    }
    return placesOf(check) === placesOf(its)
      ? []
      : `${check.name} rests on other transactions by the second node.`;
  });
}

const placesOf = ({ evidence }: Check) => evidence.map(({ signature }) => signature).join();

function words(check: Check | undefined): string {
  return check === undefined ? 'is missing' : check.verdict.replaceAll('_', ' ');
}
