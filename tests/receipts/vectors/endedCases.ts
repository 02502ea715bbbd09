import type { JobCase } from './cases.ts';
import { allConditions } from './conditions/all.ts';
import { type Condition, conditionCases, type Subjects } from './conditions/condition.ts';
import { createEndedJobs, JOB_NAMES } from './endedJobs.ts';
import { recordJobs } from './record.ts';
import type { LedgerSnapshot } from './snapshot.ts';

/** A shared snapshot, and what is to be found in it. */
export interface NodeCases {
  readonly name: string;
  readonly node: LedgerSnapshot;
  readonly cases: readonly JobCase[];
}

/**
 * Jobs that ended in every way, seen through an honest node, and through nodes that lie.
 *
 * @param version of the jobs' transactions. Those of version 1 differ in the signed bytes alone, so
 *   only the lies about these are among them
 */
export async function endedCases(version: 0 | 1): Promise<NodeCases> {
  const scene = await createEndedJobs({ version });
  try {
    const { jobs, service } = scene;
    const node = await recordJobs(scene, Object.values(jobs));
    const conditions = allConditions({ jobs, service, node }).filter(
      ({ isAll, is }) => version === 0 || (isAll && is.includes('history.signatures')),
    );
    const name = version === 0 ? 'legacy' : 'version 1';
    return {
      name,
      node,
      cases: await conditionCases(name, node, [...honest(jobs), ...conditions]),
    };
  } finally {
    await scene.ledger.close();
  }
}

/** Nothing is wrong, and nothing is missing. */
const honest = (jobs: Subjects['jobs']): Condition[] =>
  JOB_NAMES.map((name) => ({ name, job: jobs[name], is: 'holds history.sequence', isAll: true }));
