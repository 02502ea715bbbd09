import { isEnded } from '../../../vocabulary.ts';
import { type Finding, fails, holds, notApplicable, notCheckable } from '../../check.ts';
import { GRACE_SECONDS } from '../../grace.ts';
import type { PlacedEvent } from '../evidence.ts';
import { eventsNamed } from '../record.ts';
import { historyRule, type Rule, rule } from '../rule.ts';
import { statusOf } from '../status.ts';

/** What the ledger's Clock said, against the deadlines that the lock fixed. */
export const deadlines: readonly Rule[] = [
  rule(
    'deadline.acknowledged',
    ['JobLocked', 'JobAcknowledged'],
    ({ JobLocked, JobAcknowledged }, record) => {
      const deadline = workDeadline(JobLocked);
      const late = eventsNamed(record, 'JobAcknowledged').find(
        ({ data }) => data.unixTime > deadline,
      );
      return until((late ?? JobAcknowledged).data.unixTime, deadline);
    },
  ),
  rule('deadline.proven', ['JobLocked', 'JobProven'], ({ JobLocked, JobProven }) =>
    until(JobProven.data.unixTime, workDeadline(JobLocked)),
  ),
  rule('deadline.settled', ['JobLocked', 'JobSettled'], ({ JobLocked, JobSettled }) =>
    until(JobSettled.data.unixTime, workDeadline(JobLocked)),
  ),
  rule('deadline.failed', ['JobLocked', 'JobFailed'], ({ JobLocked, JobFailed }) =>
    until(JobFailed.data.unixTime, workDeadline(JobLocked)),
  ),
  rule('deadline.refunded', ['JobLocked', 'JobRefunded'], ({ JobLocked, JobRefunded }) =>
    after(JobRefunded.data.unixTime, workDeadline(JobLocked)),
  ),
  rule(
    'deadline.disputed',
    ['JobLocked', 'JobSettled', 'JobDisputed'],
    ({ JobLocked, JobSettled, JobDisputed }) =>
      until(
        JobDisputed.data.unixTime,
        JobSettled.data.unixTime + BigInt(JobLocked.data.disputeWindowSeconds),
      ),
  ),
  rule(
    'deadline.resolved',
    ['JobLocked', 'JobDisputed', 'DisputeResolved'],
    ({ JobLocked, JobDisputed, DisputeResolved }) =>
      until(DisputeResolved.data.unixTime, arbitrationDeadline(JobLocked, JobDisputed)),
  ),
  rule(
    'deadline.expired',
    ['JobLocked', 'JobDisputed', 'DisputeExpired'],
    ({ JobLocked, JobDisputed, DisputeExpired }) =>
      after(DisputeExpired.data.unixTime, arbitrationDeadline(JobLocked, JobDisputed)),
  ),
  historyRule('deadline.open', (record) => {
    const [locked] = eventsNamed(record, 'JobLocked');
    const [disputed] = eventsNamed(record, 'JobDisputed');
    const status = statusOf(record.events);
    if (isEnded(status) && status !== 'disputed') return notApplicable(`The job is ${status}.`);
    if (!locked || !record.isComplete) return notCheckable('What the job waits for is not known.');
    const deadline =
      status === 'disputed' && disputed
        ? arbitrationDeadline(locked, disputed)
        : workDeadline(locked);
    return record.now <= deadline + GRACE_SECONDS
      ? holds(`The job is ${status}; its deadline is at ${deadline}, and now is ${record.now}.`)
      : fails(`The job is ${status}, and ${record.now - deadline} s overdue.`);
  }),
];

function workDeadline({ data }: PlacedEvent<'JobLocked'>): bigint {
  return data.unixTime + BigInt(data.jobTimeoutSeconds);
}

function arbitrationDeadline(
  { data: terms }: PlacedEvent<'JobLocked'>,
  { data }: PlacedEvent<'JobDisputed'>,
): bigint {
  return data.unixTime + BigInt(terms.arbitrationWindowSeconds);
}

function until(time: bigint, deadline: bigint): Finding {
  return time <= deadline
    ? holds(`${deadline - time} s before the deadline.`)
    : fails(`${time - deadline} s after the deadline.`);
}

function after(time: bigint, deadline: bigint): Finding {
  return time > deadline
    ? holds(`${time - deadline} s after the deadline.`)
    : fails(`${deadline - time} s before the deadline.`);
}
