import type { PublicKey } from '@solana/web3.js';
import { isOnCurve } from '../../addresses.ts';
import type { Value } from '../../codec.ts';
import { BASE_UNITS_PER_CREDIT, BASIS_POINTS } from '../../generated/constants.ts';
import { chargeCredits } from '../../pricing.ts';
import { compare, type Finding, fails, holds, notCheckable } from '../check.ts';
import {
  allTransfers,
  callOf,
  type PlacedEvent,
  type Transfer,
  transfersOf,
  workersInForce,
} from './evidence.ts';
import type { JobRecord } from './record.ts';
import { judgeBalances, NODE_SAYS_WHO_SIGNED, rule } from './rule.ts';

/**
 * The key that the settlement names, and that delivery receipts bear, did sign it, and nothing else
 * than what the settlement says.
 */
export const signer = rule('settlement.signer', ['JobSettled'], ({ JobSettled }, { addresses }) => {
  const { programId } = addresses;
  const isUnknown = JobSettled.transaction.message === undefined;
  const unknown = notCheckable(`${NODE_SAYS_WHO_SIGNED}.`);
  const way = wayOfSigning(JobSettled, programId);
  if (way === undefined && !isUnknown) {
    return fails(`${JobSettled.data.settledBy} did not sign the settlement.`);
  }
  const asked = callOf(JobSettled, ['job_settle', 'job_complete'], programId);
  if (asked === undefined) {
    return isUnknown ? unknown : fails('No instruction of the transaction settles the job.');
  }
  const { deliveredHash, signature: _, ...others } = asked.values;
  const signed = deliveredHash ? { ...others, outputHash: deliveredHash } : others;
  const data: object = JobSettled.data;
  const settled = new Map<string, Value>(Object.entries(data));
  const found = compare(
    Object.fromEntries(
      Object.entries(signed).map(([field, value]) => [
        `the settlement's ${field}`,
        [settled.get(field) as Value, value],
      ]),
    ),
    `Settled by ${JobSettled.data.settledBy}${way}.`,
  );
  return isUnknown && found.verdict === 'holds' ? unknown : found;
});

/**
 * How a settlement was signed, in words. No key signs for a program's address, such as a multisig's
 * vault: its program does, in a call of its own.
 *
 * @returns undefined where it was not
 */
function wayOfSigning(
  { data: { settledBy }, transaction, instructionIndex }: PlacedEvent<'JobSettled'>,
  programId: PublicKey,
): string | undefined {
  if (transaction.signers.some((one) => one.equals(settledBy))) return '';
  const outer = transaction.instructions[instructionIndex];
  const isOfProgram =
    !isOnCurve(settledBy.toBytes()) &&
    outer?.programId !== programId.toBase58() &&
    outer?.accounts.includes(settledBy.toBase58());
  return isOfProgram ? `, a program's address, through ${outer?.programId}` : undefined;
}

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
    const { lockedCredits, limitDay } = JobLocked.data;
    return judgeBalances(record, JobSettled, {
      availableCredits: lockedCredits - JobSettled.data.chargedCredits,
      lockedCredits: -lockedCredits,
      limitDay,
    });
  },
);

/** The worker got its share in this very transaction, or can claim it. */
export const worker = rule(
  'settlement.worker_payment',
  ['JobSettled'],
  ({ JobSettled: settled }, record) => {
    const { data, transaction } = settled;
    const { toOthers } = paidByVault(settled, record);
    const payment = judgePayment(toOthers, {
      dueBaseUnits: data.workerBaseUnits,
      isPaid: data.workerPaid,
      owedBaseUnits: data.workerClaimableBaseUnits,
      owedAs: 'claimable by the worker',
    });
    if (payment.verdict === 'fails') return payment;
    const paid = { worker: data.worker, at: transaction };
    const payouts = workersInForce(record, paid).map((known) => known.data.payout.toBase58());
    if (payouts.length === 0) {
      return notCheckable("The node does not show the worker's payout account.");
    }
    const stray = toOthers.find(({ to }) => !payouts.includes(to));
    if (stray) {
      const { hasGaps, account } = record.worker;
      if (hasGaps || account?.payout.toBase58() === stray.to) {
        return notCheckable(
          'The node does not show every change of the worker that may have set its payout account.',
        );
      }
      return fails(`${stray.baseUnits} base units went to ${stray.to}, not to ${payouts}.`);
    }
    return payment;
  },
);

/** The treasury got its share in this very transaction, or it is recorded as unpaid. */
export const treasury = rule(
  'settlement.treasury_payment',
  ['JobSettled'],
  ({ JobSettled: settled }, record) =>
    judgePayment(paidByVault(settled, record).toTreasury, {
      dueBaseUnits: settled.data.treasuryBaseUnits,
      isPaid: settled.data.treasuryPaid,
      owedBaseUnits: settled.data.treasuryUnpaidBaseUnits,
      owedAs: 'unpaid to the treasury',
    }),
);

/** The ledger's own balances around the transaction say the same as its transfers. */
export const tokenBalances = rule('settlement.tokens', ['JobSettled'], ({ JobSettled }, record) => {
  const { transaction } = JobSettled;
  const transfers = allTransfers(transaction);
  const { toOthers, toTreasury } = paidByVault(JobSettled, record);
  const touched = new Set([...toOthers, ...toTreasury].flatMap(({ from, to }) => [from, to]));
  if (touched.size === 0) return holds('No token was moved.');
  const changes = [...touched].map((account) => {
    const { before, after } = transaction.tokens.get(account) ?? { before: 0n, after: 0n };
    return { account, before, after, moved: netOf(transfers, account) };
  });
  return compare(
    Object.fromEntries(
      changes.map(({ account, before, after, moved }) => [
        `the change of ${account}`,
        [after - before, moved] as const,
      ]),
    ),
    changes.map(({ account, before, after }) => `${account}: ${before} → ${after}`).join(', '),
  );
});

function judgePayment(
  transfers: readonly Transfer[],
  payment: { dueBaseUnits: bigint; isPaid: boolean; owedBaseUnits: bigint; owedAs: string },
): Finding {
  const { dueBaseUnits, isPaid, owedBaseUnits, owedAs } = payment;
  const paid = transfers.reduce((sum, { baseUnits }) => sum + baseUnits, 0n);
  if (isPaid) {
    return compare(
      { 'the payment': [paid, dueBaseUnits] },
      transfers[0] ? `${paid} base units to ${transfers[0].to}.` : 'Nothing was due.',
    );
  }
  if (paid > 0n) return fails(`${paid} base units were paid and recorded as ${owedAs}.`);
  return owedBaseUnits >= dueBaseUnits
    ? holds(`Not payable then: ${dueBaseUnits} base units, of ${owedBaseUnits} ${owedAs}.`)
    : fails(`Neither paid nor ${owedAs}: ${dueBaseUnits} base units.`);
}

/** What the settlement moved out of the vault. */
function paidByVault(settled: PlacedEvent<'JobSettled'>, { addresses }: JobRecord) {
  const vault = addresses.vault.toBase58();
  const treasuryVault = addresses.treasuryVault.toBase58();
  const transfers = transfersOf(settled).filter(({ from }) => from === vault);
  return {
    toTreasury: transfers.filter(({ to }) => to === treasuryVault),
    toOthers: transfers.filter(({ to }) => to !== treasuryVault),
  };
}

function netOf(transfers: readonly Transfer[], account: string): bigint {
  return transfers.reduce(
    (sum, { from, to, baseUnits }) =>
      sum + (to === account ? baseUnits : 0n) - (from === account ? baseUnits : 0n),
    0n,
  );
}
