import { type MatrixName, table } from '../jobRights.ts';
import { accountCases } from './accounts.ts';
import { evidenceCases } from './evidence.ts';
import { governanceCases } from './governance.ts';
import { jobCases } from './jobs.ts';

export const cases = [...governanceCases, ...accountCases, ...jobCases, ...evidenceCases];

/** The rows of the matrix, by their instructions' names. */
const MATRIX: Readonly<Record<string, MatrixName>> = {
  job_lock: 'lock',
  job_acknowledge: 'acknowledge',
  job_prove: 'prove',
  job_settle: 'settle',
  job_complete: 'complete',
  job_fail: 'fail',
  job_refund: 'refund',
  job_dispute: 'dispute',
  dispute_resolve: 'resolve',
  dispute_expire: 'expire',
  job_close: 'close',
};

/** The errors of an instruction that refusals.test.ts and jobMatrix.test.ts meet. */
export function errorsOfCases(instruction: string): Set<string> {
  const own = cases.filter((each) => each.instruction === instruction);
  const row = MATRIX[instruction];
  const ofMatrix = row === undefined ? [] : ['Unauthorized', ...Object.values(table[row])];
  return new Set([...own.map(({ refusal }) => refusal), ...ofMatrix]);
}
