import { conclude, type Verdict } from '../../programs/client/verify/check.ts';
import type { Evidence } from '../../programs/client/verify/job/evidence.ts';
import { verifyJob } from '../../programs/client/verify/job/verifyJob.ts';

/** What becomes of a job's checks, by their names. */
export interface Findings {
  readonly result: string;
  readonly fails: string[];
  readonly unchecked: string[];
  readonly all: string[];
  detail(name: string): string | undefined;
}

export function findingsOf(evidence: Evidence): Findings {
  const { checks } = verifyJob(evidence);
  const named = (verdict: Verdict) =>
    checks.filter((check) => check.verdict === verdict).map(({ name }) => name);
  return {
    result: conclude(checks),
    fails: named('fails'),
    unchecked: named('not_checkable'),
    all: checks.map(({ name }) => name),
    detail: (name) => checks.find((check) => check.name === name)?.detail,
  };
}
