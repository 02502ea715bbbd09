import { BASE_UNITS_PER_CREDIT } from '../../../pricing.ts';
import { DISPUTE_OUTCOMES, word } from '../../../vocabulary.ts';
import { fails } from '../../check.ts';
import { compare, show } from '../../compare.ts';
import type { PlacedEvent } from '../evidence.ts';
import { rule } from '../rule.ts';

/** The dispute is over this charge, and the treasury counts it among what it may have to repay. */
export const opened = rule(
  'dispute.opened',
  ['JobLocked', 'JobSettled', 'JobDisputed'],
  ({ JobLocked, JobSettled, JobDisputed }) => {
    const { outputHash, clientHash, chargedCredits, unixTime, worker } = JobDisputed.data;
    const { disputedExposureBaseUnits, arbitrationEndsAt } = JobDisputed.data;
    if (show(outputHash) === show(clientHash)) return fails("The client's hash is the proven one.");
    const charge = chargedCredits * BASE_UNITS_PER_CREDIT;
    if (disputedExposureBaseUnits < charge) {
      return fails(
        `The exposure, ${disputedExposureBaseUnits}, does not cover ${charge} base units.`,
      );
    }
    const window = BigInt(JobLocked.data.arbitrationWindowSeconds);
    return compare(
      {
        'the disputed charge': [chargedCredits, JobSettled.data.chargedCredits],
        'the disputed hash': [outputHash, JobSettled.data.outputHash],
        'the disputed worker': [worker, JobSettled.data.worker],
        'the end of arbitration': [arbitrationEndsAt, unixTime + window],
      },
      `${chargedCredits} credits; the client says that it received sha256:${show(clientHash)}.`,
    );
  },
);

/** A verdict repays the charge or nothing, and slashes no more than was agreed at the lock. */
export const resolved = rule(
  'dispute.resolved',
  ['JobLocked', 'JobDisputed', 'DisputeResolved'],
  ({ JobLocked, JobDisputed, DisputeResolved }) => {
    const { verdict, repaidCredits, owedCredits, slashedTokens, evidenceHash } =
      DisputeResolved.data;
    const { slashTokens } = JobLocked.data;
    const outcome = word(DISPUTE_OUTCOMES, verdict);
    const isUpheld = outcome !== 'rejected';
    const slashMax = outcome === 'upheld_worker' ? BigInt(slashTokens) : 0n;
    if (slashedTokens > slashMax) {
      return fails(`${slashedTokens} tokens were slashed, and ${slashMax} may be.`);
    }
    if (owedCredits < repaidCredits) {
      return fails(`Of ${repaidCredits} repaid credits the treasury owes ${owedCredits}.`);
    }
    return compare(
      {
        'the repayment': [repaidCredits, isUpheld ? JobDisputed.data.chargedCredits : 0n],
        ...exposure(JobDisputed, DisputeResolved),
      },
      `${outcome}: ${repaidCredits} credits to repay, ${slashedTokens} of ${slashTokens} tokens ` +
        `slashed, on the evidence sha256:${show(evidenceHash)}.`,
    );
  },
);

/** An undecided dispute leaves the charge as it was. */
export const expired = rule(
  'dispute.expired',
  ['JobDisputed', 'DisputeExpired'],
  ({ JobDisputed, DisputeExpired }) =>
    compare(exposure(JobDisputed, DisputeExpired), 'Expired undecided: the charge stands.'),
);

/**
 * What a dispute exposed the treasury to is taken off again when it ends. The sum is over all
 * disputes, so it is compared only where no other change of the treasury came in between.
 */
function exposure(
  { data: opening }: PlacedEvent<'JobDisputed'>,
  { data: end }: PlacedEvent<'DisputeResolved' | 'DisputeExpired'>,
) {
  if (end.treasurySequence !== opening.treasurySequence + 1n) return {};
  const charge = opening.chargedCredits * BASE_UNITS_PER_CREDIT;
  const due = opening.disputedExposureBaseUnits - charge;
  return { 'the exposure left': [end.disputedExposureBaseUnits, due] } as const;
}
