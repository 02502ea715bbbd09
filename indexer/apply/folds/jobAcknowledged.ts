import { type Fold, update } from '../change.ts';

export const foldJobAcknowledged: Fold<'JobAcknowledged'> = ({ data }) => [
  update(
    'jobs',
    { address: data.job, sequence: data.jobSequence },
    {
      status: 'processing',
      worker: data.worker,
      attempt: data.attempt,
      acknowledged_at: data.unixTime,
    },
  ),
];
