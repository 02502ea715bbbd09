import { DISPUTE_OUTCOMES, word } from '../../../programs/client/vocabulary.ts';
import { type Fold, update } from '../change.ts';

export const foldDisputeResolved: Fold<'DisputeResolved'> = ({ data, signature }, addresses) => {
  const outcome = word(DISPUTE_OUTCOMES, data.verdict);
  const changes = [
    update(
      'jobs',
      { address: data.job, sequence: data.jobSequence },
      {
        outcome,
        resolution_tx: signature,
        resolved_at: data.unixTime,
        ...(outcome === 'rejected'
          ? { status: 'settled' }
          : { status: 'refunded', charged_credits: 0 }),
      },
    ),
    update(
      'credit_accounts',
      { address: data.creditAccount, sequence: data.creditSequence },
      { owed_credits: data.owedCredits, open_disputes: data.openDisputes },
    ),
    update(
      'treasury',
      { address: addresses.treasury.toBase58(), sequence: data.treasurySequence },
      {
        owed_base_units: data.owedBaseUnits,
        disputed_exposure_base_units: data.disputedExposureBaseUnits,
        slashed_stake_tokens: data.slashedStakeTokens,
      },
    ),
  ];
  if (data.slashedTokens === '0') return changes;
  const worker = update(
    'workers',
    { address: data.worker, sequence: data.workerSequence },
    {
      stake_tokens: data.stakeTokens,
      unstaking_tokens: data.unstakingTokens,
      // With nothing left to wait for, the program ends the cooldown.
      ...(data.unstakingTokens === '0' && { unstake_ready_at: null }),
    },
  );
  return [...changes, worker];
};
