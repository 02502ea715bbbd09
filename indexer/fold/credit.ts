import { BASE_UNITS_PER_CREDIT } from '../../programs/client/generated/constants.ts';
import { creation, type Fold, keyOrNull, update } from './change.ts';

export const foldCreditOpened: Fold<'CreditOpened'> = ({ data }) => [
  creation('credit_accounts', data.creditAccount, {
    wallet: data.wallet,
    spender: keyOrNull(data.spender),
    limit_per_job_credits: data.limitPerJobCredits,
    limit_per_day_credits: data.limitPerDayCredits,
    spent_day: 0,
    spent_today_credits: 0,
    available_credits: 0,
    locked_credits: 0,
    owed_credits: 0,
    open_disputes: 0,
    opened_at: data.unixTime,
    last_topup_at: null,
  }),
];

export const foldCreditBought: Fold<'CreditBought'> = ({ data }) => [
  update(
    'credit_accounts',
    { address: data.creditAccount, sequence: data.creditSequence },
    {
      available_credits: data.availableCredits,
      locked_credits: data.lockedCredits,
      last_topup_at: data.unixTime,
    },
  ),
];

export const foldCreditWithdrawn: Fold<'CreditWithdrawn'> = ({ data }) => [
  update(
    'credit_accounts',
    { address: data.creditAccount, sequence: data.creditSequence },
    { available_credits: data.availableCredits, locked_credits: data.lockedCredits },
  ),
];

export const foldSpenderSet: Fold<'SpenderSet'> = ({ data }) => [
  update(
    'credit_accounts',
    { address: data.creditAccount, sequence: data.creditSequence },
    {
      spender: keyOrNull(data.spender),
      limit_per_job_credits: data.limitPerJobCredits,
      limit_per_day_credits: data.limitPerDayCredits,
    },
  ),
];

export const foldLimitSet: Fold<'LimitSet'> = ({ data }) => [
  update(
    'credit_accounts',
    { address: data.creditAccount, sequence: data.creditSequence },
    {
      limit_per_job_credits: data.limitPerJobCredits,
      limit_per_day_credits: data.limitPerDayCredits,
    },
  ),
];

/** A worker's claim is paid out of the vault; the other two also change the treasury's books. */
export const foldClaimPaid: Fold<'ClaimPaid'> = ({ data }, addresses) => {
  const claimant = { address: data.claimant, sequence: data.claimantSequence };
  const treasury = update(
    'treasury',
    { address: addresses.treasury.toBase58(), sequence: data.treasurySequence },
    { owed_base_units: data.owedBaseUnits, unpaid_base_units: data.unpaidBaseUnits },
  );
  switch (data.claimantKind) {
    case 'worker':
      return [update('workers', claimant, { claimable_base_units: data.remainingBaseUnits })];
    case 'treasury':
      return [treasury];
    case 'credit_account': {
      const owed_credits = (BigInt(data.remainingBaseUnits) / BASE_UNITS_PER_CREDIT).toString();
      const values = { owed_credits, available_credits: data.availableCredits };
      return [update('credit_accounts', claimant, values), treasury];
    }
  }
};
