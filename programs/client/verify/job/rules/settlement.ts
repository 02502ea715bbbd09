import { isOnCurve } from '../../../onCurve.ts';
import { BASE_UNITS_PER_CREDIT, chargeCredits } from '../../../pricing.ts';
import { fails, holds } from '../../check.ts';
import { compare } from '../../compare.ts';
import { judgeBalances } from '../judgeBalances.ts';
import { rule } from '../rule.ts';

const BASIS_POINTS = 10_000n;

/**
 * The key that the settlement names, and that delivery receipts bear, did sign it. No key signs for
 * a program's address, such as a multisig's vault: its program does, in a call of its own.
 */
export const signer = rule('settlement.signer', ['JobSettled'], ({ JobSettled }, { addresses }) => {
  const { data, transaction, instructionIndex } = JobSettled;
  const { settledBy } = data;
  if (transaction.signers.some((one) => one.equals(settledBy))) {
    return holds(`Settled by ${settledBy.toBase58()}.`);
  }
  const outer = transaction.instructions[instructionIndex];
  const isOfProgram =
    !isOnCurve(settledBy.toBytes()) &&
    outer?.programId !== addresses.programId.toBase58() &&
    outer?.accounts.includes(settledBy.toBase58());
  return isOfProgram
    ? holds(`Settled by ${settledBy.toBase58()}, a program's address, through ${outer?.programId}.`)
    : fails(`${settledBy.toBase58()} did not sign the settlement.`);
});

/** The published rule, applied to the lower of two counts, and never more than was locked. */
export const charge = rule(
  'settlement.charge',
  ['JobLocked', 'JobSettled'],
  ({ JobLocked, JobSettled }) => {
    const { lockedCredits } = JobLocked.data;
    const { completionTokens, countedTokens, chargedCredits, returnedCredits } = JobSettled.data;
    const tokens = Math.min(completionTokens, countedTokens);
    const due = chargeCredits(JobLocked.data, tokens, lockedCredits);
    return compare(
      {
        'the charge': [chargedCredits, due],
        'what was returned': [returnedCredits, lockedCredits - due],
      },
      `${due} of ${lockedCredits} locked credits for ${tokens} tokens ` +
        `(${completionTokens} proven, ${countedTokens} counted).`,
    );
  },
);

/** Worker and treasury share the charge as was agreed at the lock, to the base unit. */
export const share = rule(
  'settlement.share',
  ['JobLocked', 'JobSettled'],
  ({ JobLocked, JobSettled }) => {
    const { treasuryShareBasisPoints } = JobLocked.data;
    const { chargedCredits, workerBaseUnits, treasuryBaseUnits } = JobSettled.data;
    const total = chargedCredits * BASE_UNITS_PER_CREDIT;
    const due = (total * BigInt(treasuryShareBasisPoints)) / BASIS_POINTS;
    return compare(
      {
        "the treasury's share": [treasuryBaseUnits, due],
        "the worker's share": [workerBaseUnits, total - due],
      },
      `Of ${total} base units ${due} (${treasuryShareBasisPoints} basis points) to the treasury.`,
    );
  },
);

/** What was not charged is the wallet's again. */
export const balances = rule(
  'settlement.balances',
  ['JobLocked', 'JobSettled'],
  ({ JobLocked, JobSettled }, record) => {
    const { lockedCredits } = JobLocked.data;
    return judgeBalances(record, JobSettled, {
      availableCredits: lockedCredits - JobSettled.data.chargedCredits,
      lockedCredits: -lockedCredits,
    });
  },
);
