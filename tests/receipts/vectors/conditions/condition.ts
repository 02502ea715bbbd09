import type { PublicKey } from '@solana/web3.js';
import type { Check } from '../../../../programs/client/verify/check.ts';
import type { Service } from '../../../../testing/ledger/ledger.ts';
import { type ClientParts, type JobCase, REFUSED } from '../cases.ts';
import type { Jobs } from '../endedJobs.ts';
import type { Change } from '../nodeChanges.ts';
import { changesFrom } from '../record.ts';
import { judgeJob } from '../runCase.ts';
import type { LedgerSnapshot } from '../snapshot.ts';
import { asExpected } from '../verdict.ts';

/** What a node shows otherwise, and what must become of rules by that. */
export interface Condition extends ClientParts {
  readonly name: string;
  /** Absent where the answer names it. */
  readonly job?: PublicKey;
  /** A saved answer. */
  readonly answer?: string;
  readonly change?: Change | undefined;
  /**
   * A verdict and the rules that get it, such as `fails proof.key, holds proof.hash`; `refused`
   * where nothing can be verified.
   */
  readonly is: string;
  /** No other rule fails or is not checkable. */
  readonly isAll?: boolean;
}

/** What conditions are about. */
export interface Subjects {
  readonly jobs: Jobs;
  readonly service: Service;
  readonly node: LedgerSnapshot;
}

export const row = (
  name: string,
  job: PublicKey,
  change: Change | undefined,
  is: string,
): Condition => ({ name, job, change, is });

/** Nothing is wrong with a job, and nothing is missing. */
export const honest = (name: string, job: PublicKey): Condition => ({
  ...row(name, job, undefined, 'holds history.sequence'),
  isAll: true,
});

/** Conditions of one job, by their names. */
export const rows = (
  job: PublicKey,
  table: Readonly<Record<string, readonly [Change, is: string]>>,
): Condition[] => Object.entries(table).map(([name, [change, is]]) => row(name, job, change, is));

/** Lies, each with every rule that it upsets. */
export const lies = (...parameters: Parameters<typeof rows>): Condition[] =>
  rows(...parameters).map((one) => ({ ...one, isAll: true }));

/** @throws Error where a rule says something else than the condition */
export async function conditionCases(
  nodeName: string,
  node: LedgerSnapshot,
  conditions: readonly Condition[],
): Promise<JobCase[]> {
  return Promise.all(
    conditions.map(async ({ name, job, change, is, isAll = false, ...parts }): Promise<JobCase> => {
      const changes = change && changesFrom(node, change(node));
      const one = {
        ...({ kind: 'job', name: `${nodeName}: ${name}`, node: nodeName } as const),
        ...(changes && { changes }),
        ...(job && { job: job.toBase58() }),
        ...parts,
      };
      if (is === 'refused') return { ...one, expected: REFUSED };
      const checks = await judgeJob(one, { [nodeName]: node });
      for (const difference of differences(checks, is, isAll)) {
        throw new Error(`${name}: ${difference}`);
      }
      return { ...one, expected: asExpected(checks) };
    }),
  );
}

/** Each rule that says something else. */
function differences(checks: readonly Check[], is: string, isAll: boolean): string[] {
  const expected = new Map<string, string>();
  for (const clause of is.split(', ')) {
    const [verdict = '', ...names] = clause.split(' ');
    for (const name of names) expected.set(name, verdict);
  }
  const known = new Set(checks.map(({ name }) => name));
  const unknown = [...expected.keys()].filter((name) => !known.has(name));
  const others = checks.flatMap(({ name, verdict, detail }) => {
    const isBad = verdict === 'fails' || verdict === 'not_checkable';
    const wanted = expected.get(name) ?? (isAll && isBad ? 'in order' : verdict);
    return wanted === verdict ? [] : [`${name} ${verdict}, not ${wanted}: ${detail}`];
  });
  return [...unknown.map((name) => `there is no rule ${name}`), ...others];
}
