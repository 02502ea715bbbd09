import { FAILURE_REASONS, word } from '../../../programs/client/vocabulary.ts';
import { type Fold, update } from '../change.ts';

export const foldJobFailed: Fold<'JobFailed'> = ({ data, signature }) => [
  update(
    'jobs',
    { address: data.job, sequence: data.jobSequence },
    {
      status: 'failed',
      failure_reason: word(FAILURE_REASONS, data.reason),
      ended_at: data.unixTime,
      refund_tx: signature,
    },
  ),
  update(
    'credit_accounts',
    { address: data.creditAccount, sequence: data.creditSequence },
    { available_credits: data.availableCredits, locked_credits: data.accountLockedCredits },
  ),
];
