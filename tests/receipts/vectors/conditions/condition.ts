import type { PublicKey } from '@solana/web3.js';
import type { Verdict } from '../../../../programs/client/verify/check.ts';
import type { ForgedJobs } from '../../../auditors/forgedScene.ts';
import { type ClientParts, type JobCase, REFUSED } from '../cases.ts';
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
  readonly change?: Change;
  /** The verdicts that it is about; `refused` where nothing can be verified. */
  readonly is: Readonly<Record<string, Verdict>> | 'refused';
}

/** What conditions are about. */
export interface Subjects {
  readonly jobs: ForgedJobs;
  readonly node: LedgerSnapshot;
}

/** @throws Error where a rule says something else than the condition */
export async function conditionCases(
  nodeName: string,
  node: LedgerSnapshot,
  conditions: readonly Condition[],
): Promise<JobCase[]> {
  return Promise.all(
    conditions.map(async ({ name, job, change, is, ...parts }): Promise<JobCase> => {
      const changes = change && changesFrom(node, change(node));
      const one = {
        ...({ kind: 'job', name: `${nodeName}: ${name}`, node: nodeName } as const),
        ...(changes && { changes }),
        ...(job && { job: job.toBase58() }),
        ...parts,
      };
      if (is === 'refused') return { ...one, expected: REFUSED };
      const checks = await judgeJob(one, { [nodeName]: node });
      for (const [rule, verdict] of Object.entries(is)) {
        const found = checks.find((check) => check.name === rule);
        if (found?.verdict === verdict) continue;
        throw new Error(`${name}: ${rule} ${found?.verdict}, not ${verdict}: ${found?.detail}`);
      }
      return { ...one, expected: asExpected(checks) };
    }),
  );
}
