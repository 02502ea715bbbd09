import { type Fold, update } from '../change.ts';

export const foldJobSettled: Fold<'JobSettled'> = ({ data, signature, slot }, addresses) => {
  const changes = [
    update(
      'jobs',
      { address: data.job, sequence: data.jobSequence },
      {
        status: 'settled',
        charged_credits: data.chargedCredits,
        counted_tokens: data.countedTokens,
        settled_at: data.unixTime,
        ended_at: data.unixTime,
        settlement_tx: signature,
        settlement_slot: slot,
        worker_base_units: data.workerBaseUnits,
        treasury_base_units: data.treasuryBaseUnits,
        settled_by: data.settledBy,
      },
    ),
    update(
      'credit_accounts',
      { address: data.creditAccount, sequence: data.creditSequence },
      { available_credits: data.availableCredits, locked_credits: data.accountLockedCredits },
    ),
    update(
      'workers',
      { address: data.worker, sequence: data.workerSequence },
      { claimable_base_units: data.workerClaimableBaseUnits, jobs_settled: data.jobsSettled },
    ),
  ];
  // A share that was paid went to a token account and left the treasury's books alone.
  if (data.treasuryPaid) return changes;
  const treasury = update(
    'treasury',
    { address: addresses.treasury.toBase58(), sequence: data.treasurySequence },
    { unpaid_base_units: data.treasuryUnpaidBaseUnits },
  );
  return [...changes, treasury];
};
