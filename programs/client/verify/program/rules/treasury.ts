import { BASE_UNITS_PER_CREDIT } from '../../../pricing.ts';
import { JOB_STATUSES } from '../../../vocabulary.ts';
import { notCheckable } from '../../check.ts';
import { compare } from '../../compare.ts';
import { programRule } from '../rule.ts';
import { accountsNamed } from '../state.ts';
import { holding } from './vaults.ts';

/** The treasury's obligations are those to wallets with owed credits and to open disputes. */
export const treasury = programRule('treasury.obligations', (state) => {
  const [found] = accountsNamed(state, 'Treasury');
  if (!found) return notCheckable('The program is not initialized.');
  const owed = accountsNamed(state, 'CreditAccount').reduce(
    (sum, { data }) => sum + data.owedCredits,
    0n,
  );
  const disputed = accountsNamed(state, 'Job')
    .filter(({ data }) => JOB_STATUSES[data.status] === 'disputed')
    .reduce((sum, { data }) => sum + data.chargedCredits, 0n);
  const { owedBaseUnits, disputedExposureBaseUnits } = found.data;
  return compare(
    {
      'what it owes': [owedBaseUnits, owed * BASE_UNITS_PER_CREDIT],
      'its exposure': [disputedExposureBaseUnits, disputed * BASE_UNITS_PER_CREDIT],
    },
    `Owes ${owedBaseUnits}, at most ${disputedExposureBaseUnits} more by open disputes, ` +
      `and holds ${holding(state.tokenAccounts.treasuryVault)} base units.`,
  );
});
