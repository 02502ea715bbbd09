import { type Fold, update } from '../change.ts';

export const foldDisputeExpired: Fold<'DisputeExpired'> = ({ data, signature }, addresses) => [
  update(
    'jobs',
    { address: data.job, sequence: data.jobSequence },
    {
      status: 'settled',
      outcome: 'expired',
      resolution_tx: signature,
      resolved_at: data.unixTime,
    },
  ),
  update(
    'credit_accounts',
    { address: data.creditAccount, sequence: data.creditSequence },
    { open_disputes: data.openDisputes },
  ),
  update(
    'treasury',
    { address: addresses.treasury.toBase58(), sequence: data.treasurySequence },
    { disputed_exposure_base_units: data.disputedExposureBaseUnits },
  ),
];
