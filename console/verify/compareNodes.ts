import type { Check } from '@svc-inference/client/verify';
import type { Verification } from '../verification/verify.ts';

const placesOf = ({ evidence }: Check) => evidence.map(({ signature }) => signature).join();

/** How the checks by two nodes differ, a sentence each; of what each found, its verdict and transactions. */
export function compareNodes(one: Verification, other: Verification): string[] {
  const others = new Map(other.checks.map((check) => [check.name, check]));
  return one.checks.flatMap((check) => {
    const its = others.get(check.name);
    if (its?.verdict !== check.verdict) {
      return `${check.name} ${words(check)} by the first node, and ${words(its)} by the second.`;
    }
    return placesOf(check) === placesOf(its)
      ? []
      : `${check.name} rests on other transactions by the second node.`;
  });
}

function words(check: Check | undefined): string {
  return check === undefined ? 'is missing' : check.verdict.replaceAll('_', ' ');
}
