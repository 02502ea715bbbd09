import { type Fold, update } from '../change.ts';

export const foldJobRefunded: Fold<'JobRefunded'> = ({ data, signature }) => [
  update(
    'jobs',
    { address: data.job, sequence: data.jobSequence },
    { status: 'refunded', ended_at: data.unixTime, refund_tx: signature },
  ),
  update(
    'credit_accounts',
    { address: data.creditAccount, sequence: data.creditSequence },
    { available_credits: data.availableCredits, locked_credits: data.accountLockedCredits },
  ),
];
