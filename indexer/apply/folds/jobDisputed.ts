import { type Fold, update } from '../change.ts';

export const foldJobDisputed: Fold<'JobDisputed'> = ({ data, signature }, addresses) => [
  update(
    'jobs',
    { address: data.job, sequence: data.jobSequence },
    {
      status: 'disputed',
      client_hash: data.clientHash,
      dispute_tx: signature,
      disputed_at: data.unixTime,
      arbitration_ends_at: data.arbitrationEndsAt,
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
