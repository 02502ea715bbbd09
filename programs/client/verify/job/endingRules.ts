import { isEnded } from '../../accounts.ts';
import { BASE_UNITS_PER_CREDIT } from '../../generated/constants.ts';
import { repayableCredits, treasuryCredits } from '../../pricing.ts';
import {
  compare,
  type Finding,
  fails,
  GRACE_SECONDS,
  holds,
  notApplicable,
  notCheckable,
  show,
} from '../check.ts';
import { type PlacedEvent, transfersOf } from './evidence.ts';
import {
  eventsNamed,
  type JobEvent,
  type JobEventName,
  type JobRecord,
  statusOf,
} from './record.ts';
import { historyRule, judgeBalances, type Rule, rule } from './rule.ts';

/** A job that failed or was refunded costs nothing: all of its lock comes back, and no payment is made. */
export const returns: readonly Rule[] = (
  [
    ['failure', 'JobFailed'],
    ['refund', 'JobRefunded'],
  ] as const
).flatMap(([group, ending]) => [
  rule(`${group}.returned`, ['JobLocked', ending], (events, record) =>
    judgeReturn(events.JobLocked, events[ending], record),
  ),
  rule(`${group}.balances`, ['JobLocked', ending], (events, record) => {
    const { lockedCredits, limitDay } = events.JobLocked.data;
    const change = { availableCredits: lockedCredits, lockedCredits: -lockedCredits, limitDay };
    return judgeBalances(record, events[ending], change);
  }),
]);

function judgeReturn(
  { data: { lockedCredits } }: PlacedEvent<'JobLocked'>,
  end: PlacedEvent<'JobFailed' | 'JobRefunded'>,
  { addresses }: JobRecord,
): Finding {
  // The sender of a refund can move tokens of its own in the same transaction.
  const vault = addresses.vault.toBase58();
  const transfer = transfersOf(end).find(({ from }) => from === vault);
  if (transfer) return fails(`${transfer.baseUnits} base units were paid to ${transfer.to}.`);
  return compare(
    { 'what was returned': [end.data.returnedCredits, lockedCredits] },
    `All ${lockedCredits} locked credits, and no payment was made.`,
  );
}

type Judge = (time: bigint, deadline: bigint) => Finding;

const until: Judge = (time, deadline) =>
  time <= deadline
    ? holds(`${deadline - time} s before the deadline.`)
    : fails(`${time - deadline} s after the deadline.`);

const after: Judge = (time, deadline) =>
  time > deadline
    ? holds(`${time - deadline} s after the deadline.`)
    : fails(`${deadline - time} s before the deadline.`);

/** The spans of time that the lock fixes, each from one event on. */
type Span = 'jobTimeoutSeconds' | 'disputeWindowSeconds' | 'arbitrationWindowSeconds';

/** When a span of time ends that the lock fixes. */
export function deadlineOf({ data }: JobEvent, span: Span, lock: PlacedEvent<'JobLocked'>): bigint {
  return data.unixTime + BigInt(lock.data[span]);
}

/** The last of the events comes within a span of time from the one before it, or after that. */
function timed(name: string, judge: Judge, span: Span, ...needs: JobEventName[]): Rule {
  return rule(`deadline.${name}`, ['JobLocked', ...needs], (events) => {
    const [start, end] = (['JobLocked', ...needs] as const).slice(-2).map((need) => events[need]);
    const deadline = deadlineOf(start as JobEvent, span, events.JobLocked);
    return judge((end as JobEvent).data.unixTime, deadline);
  });
}

/** What the ledger's Clock said, against the deadlines that the lock fixed. */
export const deadlines: readonly Rule[] = [
  rule('deadline.acknowledged', ['JobLocked', 'JobAcknowledged'], ({ JobLocked }, record) => {
    const times = eventsNamed(record, 'JobAcknowledged').map(({ data }) => data.unixTime);
    const deadline = deadlineOf(JobLocked, 'jobTimeoutSeconds', JobLocked);
    return until(times.find((time) => time > deadline) ?? (times.at(-1) as bigint), deadline);
  }),
  timed('proven', until, 'jobTimeoutSeconds', 'JobProven'),
  timed('settled', until, 'jobTimeoutSeconds', 'JobSettled'),
  timed('failed', until, 'jobTimeoutSeconds', 'JobFailed'),
  timed('refunded', after, 'jobTimeoutSeconds', 'JobRefunded'),
  timed('disputed', until, 'disputeWindowSeconds', 'JobSettled', 'JobDisputed'),
  timed('amended', until, 'arbitrationWindowSeconds', 'JobDisputed', 'DisputeAmended'),
  rule(
    'deadline.resolved',
    ['JobLocked', 'JobSettled', 'JobDisputed', 'DisputeResolved'],
    ({ JobLocked, JobSettled, JobDisputed, DisputeResolved }) => {
      const { unixTime } = DisputeResolved.data;
      const open = deadlineOf(JobSettled, 'disputeWindowSeconds', JobLocked);
      if (unixTime <= open) {
        return fails(`The job could still be disputed for ${open - unixTime} s.`);
      }
      return until(unixTime, deadlineOf(JobDisputed, 'arbitrationWindowSeconds', JobLocked));
    },
  ),
  timed('expired', after, 'arbitrationWindowSeconds', 'JobDisputed', 'DisputeExpired'),
  historyRule('deadline.open', (record) => {
    const [locked] = eventsNamed(record, 'JobLocked');
    const [disputed] = eventsNamed(record, 'JobDisputed');
    const status = statusOf(record.events);
    if (isEnded(status) && status !== 'disputed') return notApplicable(`The job is ${status}.`);
    if (!locked || !record.isComplete) return notCheckable('What the job waits for is not known.');
    const deadline =
      status === 'disputed' && disputed
        ? deadlineOf(disputed, 'arbitrationWindowSeconds', locked)
        : deadlineOf(locked, 'jobTimeoutSeconds', locked);
    return record.now <= deadline + GRACE_SECONDS
      ? holds(`The job is ${status}; its deadline is at ${deadline}, and now is ${record.now}.`)
      : fails(`The job is ${status}, and ${record.now - deadline} s overdue.`);
  }),
];

/** The dispute is over this charge, and the treasury counts what it may have to repay of it. */
export const opened = rule(
  'dispute.opened',
  ['JobLocked', 'JobSettled', 'JobDisputed'],
  ({ JobLocked, JobSettled, JobDisputed }) => {
    const { outputHash, clientHash, chargedCredits, unixTime, worker } = JobDisputed.data;
    const repayable = JobDisputed.data.repayableCredits;
    const { disputedExposureBaseUnits, arbitrationEndsAt } = JobDisputed.data;
    if (show(outputHash) === show(clientHash)) return fails("The client's hash is the proven one.");
    const exposed = repayable * BASE_UNITS_PER_CREDIT;
    if (disputedExposureBaseUnits < exposed) {
      return fails(
        `The exposure, ${disputedExposureBaseUnits}, does not cover ${exposed} base units.`,
      );
    }
    const window = BigInt(JobLocked.data.arbitrationWindowSeconds);
    return compare(
      {
        'the disputed charge': [chargedCredits, JobSettled.data.chargedCredits],
        'what can be repaid': [repayable, repayableCredits(chargedCredits, JobLocked.data)],
        'the disputed hash': [outputHash, JobSettled.data.outputHash],
        'the disputed worker': [worker, JobSettled.data.worker],
        'the end of arbitration': [arbitrationEndsAt, unixTime + window],
      },
      `${repayable} of ${chargedCredits} credits can be repaid; the client says that it received ` +
        `sha256:${show(clientHash)}.`,
    );
  },
);

/** A verdict repays what can be repaid or nothing, and slashes no more than was agreed at the lock. */
export const resolved = rule(
  'dispute.resolved',
  ['JobLocked', 'JobDisputed', 'DisputeResolved'],
  ({ JobLocked, JobDisputed, DisputeResolved }) => {
    const { verdict: outcome, repaidCredits, chargedCredits, owedCredits } = DisputeResolved.data;
    const { slashedTokens, evidenceHash, worker } = DisputeResolved.data;
    const { slashedStakeTokens, stakeTokens, unstakingTokens, owedBaseUnits } =
      DisputeResolved.data;
    const { slashTokens } = JobLocked.data;
    const charged = JobDisputed.data.chargedCredits;
    const isBorne = outcome !== 'upheld_worker' || slashedTokens === BigInt(slashTokens);
    const upheld = isBorne
      ? JobDisputed.data.repayableCredits
      : treasuryCredits(charged, JobLocked.data);
    const slashMax = outcome === 'upheld_worker' ? BigInt(slashTokens) : 0n;
    if (slashedTokens > slashMax) {
      return fails(`${slashedTokens} tokens were slashed, and ${slashMax} may be.`);
    }
    if (owedCredits < repaidCredits) {
      return fails(`Of ${repaidCredits} repaid credits the treasury owes ${owedCredits}.`);
    }
    if (slashedTokens < slashMax && stakeTokens + unstakingTokens > 0n) {
      return fails(`${slashedTokens} of ${slashMax} tokens were slashed, though some are left.`);
    }
    if (slashedStakeTokens < slashedTokens || owedBaseUnits < owedCredits * BASE_UNITS_PER_CREDIT) {
      return fails('The treasury owes or holds less than this verdict adds.');
    }
    return compare(
      {
        'the disputed worker': [worker, JobDisputed.data.worker],
        'the repayment': [repaidCredits, outcome === 'rejected' ? 0n : upheld],
        'what stays charged': [chargedCredits, charged - repaidCredits],
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
  const exposed = opening.repayableCredits * BASE_UNITS_PER_CREDIT;
  const due = opening.disputedExposureBaseUnits - exposed;
  return { 'the exposure left': [end.disputedExposureBaseUnits, due] } as const;
}
