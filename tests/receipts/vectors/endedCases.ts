import type { JobCase } from './cases.ts';
import { boundaries } from './conditions/boundaries.ts';
import { callLies } from './conditions/callLies.ts';
import { type Condition, conditionCases, honest } from './conditions/condition.ts';
import { endingConditions } from './conditions/endings.ts';
import { eventLies } from './conditions/eventLies.ts';
import { evidenceLies } from './conditions/evidenceLies.ts';
import { historyConditions } from './conditions/history.ts';
import { omissions } from './conditions/omissions.ts';
import { readingConditions } from './conditions/reading.ts';
import { settlementConditions } from './conditions/settlement.ts';
import { workConditions } from './conditions/work.ts';
import { workerConditions } from './conditions/workers.ts';
import { createEndedJobs, JOB_NAMES } from './endedJobs.ts';
import { recordJobs } from './record.ts';
import type { LedgerSnapshot } from './snapshot.ts';

/** Each for one condition of the rules. */
const CONDITIONS = [
  eventLies,
  callLies,
  evidenceLies,
  omissions,
  boundaries,
  historyConditions,
  readingConditions,
  settlementConditions,
  endingConditions,
  workerConditions,
  workConditions,
].flat();

/** A shared snapshot, and what is to be found in it. */
export interface NodeCases {
  readonly name: string;
  readonly node: LedgerSnapshot;
  readonly cases: readonly JobCase[];
}

/**
 * Jobs that ended in every way, seen through an honest node, and through nodes that lie.
 *
 * @param version of the jobs' transactions. Those of version 1 differ in the signed bytes alone.
 *   Only lies about these are among them: the first with the same verdicts
 */
export async function endedCases(version: 0 | 1): Promise<NodeCases> {
  const scene = await createEndedJobs({ version });
  try {
    const { jobs, service } = scene;
    const node = await recordJobs(scene, Object.values(jobs));
    const all = CONDITIONS.flatMap((of) => of({ jobs, service, node }));
    const conditions = version === 0 ? all : firstOfEach(all.filter(isOfSigned));
    const whole = JOB_NAMES.map((name) => honest(name, jobs[name]));
    const name = version === 0 ? 'legacy' : 'version 1';
    return {
      name,
      node,
      cases: await conditionCases(name, node, [...whole, ...conditions]),
    };
  } finally {
    await scene.ledger.close();
  }
}

const isOfSigned = ({ isAll, is }: Condition): boolean =>
  isAll === true && is.includes('history.signatures');

/** Of conditions with the same verdicts the first. */
function firstOfEach(conditions: readonly Condition[]): Condition[] {
  const found = new Map(conditions.toReversed().map((one) => [one.is, one]));
  return conditions.filter((one) => found.get(one.is) === one);
}
