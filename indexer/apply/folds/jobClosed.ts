import { type Fold, update } from '../change.ts';

/** The account is gone from the ledger; its row stays, since the job is still asked for. */
export const foldJobClosed: Fold<'JobClosed'> = ({ data }) => [
  update('jobs', { address: data.job, sequence: data.jobSequence }, { closed: true }),
];
