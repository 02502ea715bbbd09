import { type Check, type Finding, fails, holds } from '../check.ts';
import type { ProgramState } from './state.ts';

/** Judges one thing about the whole program. */
export type ProgramRule = (state: ProgramState) => Check;

/** More than these are counted, not named. */
const NAMED_MAX = 5;

export function programRule(name: string, judge: (state: ProgramState) => Finding): ProgramRule {
  return (state) => ({ name, ...judge(state), evidence: [] });
}

/**
 * @param problems one sentence for each thing that is wrong, without its full stop
 * @param agreement the finding's detail when there is none
 */
export function judgeProblems(problems: readonly string[], agreement: string): Finding {
  if (problems.length === 0) return holds(agreement);
  const named = problems.slice(0, NAMED_MAX).join('; ');
  const rest = problems.length - NAMED_MAX;
  return fails(rest > 0 ? `${named}; and ${rest} more.` : `${named}.`);
}

/** The problems that there are, of all that there could be. */
export function namesOfTrue(problems: Readonly<Record<string, boolean>>): string[] {
  return Object.keys(problems).filter((problem) => problems[problem]);
}
