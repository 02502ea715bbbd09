import { BASE_UNITS_PER_CREDIT } from '../../../programs/client/pricing.ts';
import { CLAIMANT_KINDS, word } from '../../../programs/client/vocabulary.ts';
import { type Fold, update } from '../change.ts';

/** A worker's claim is paid out of the vault; the other two also change the treasury's books. */
export const foldClaimPaid: Fold<'ClaimPaid'> = ({ data }, addresses) => {
  const claimant = { address: data.claimant, sequence: data.claimantSequence };
  const treasury = update(
    'treasury',
    { address: addresses.treasury.toBase58(), sequence: data.treasurySequence },
    { owed_base_units: data.owedBaseUnits, unpaid_base_units: data.unpaidBaseUnits },
  );
  switch (word(CLAIMANT_KINDS, data.claimantKind)) {
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
