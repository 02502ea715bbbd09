import { describe, expect, it } from '@jest/globals';
import { deadlines } from '../../programs/client/verify/job/endingRules.ts';
import type { JobRecord } from '../../programs/client/verify/job/record.ts';

const LOCKED_AT = 1_000n;
const TERMS = {
  jobTimeoutSeconds: 120,
  disputeWindowSeconds: 60,
  arbitrationWindowSeconds: 86_400,
};
const SETTLED_AT = LOCKED_AT + 10n;
const DISPUTED_AT = SETTLED_AT + 20n;

/** What a rule says of an event at this time, in a job that is settled and disputed before. */
function judge(rule: string, name: string, unixTime: bigint): string | undefined {
  const times: Record<string, bigint> = {
    JobLocked: LOCKED_AT,
    JobSettled: SETTLED_AT,
    JobDisputed: DISPUTED_AT,
    [name]: unixTime,
  };
  const events = Object.entries(times).map(([event, at]) => ({
    name: event,
    data: { ...TERMS, unixTime: at },
    transaction: { signature: event, slot: 1 },
  }));
  const record = {
    events,
    steps: events,
    isComplete: true,
    creditEvents: [],
    now: LOCKED_AT,
  } as unknown as JobRecord;
  return deadlines.map((one) => one(record)).find((found) => found.name === rule)?.verdict;
}

const WORK_DUE = LOCKED_AT + 120n;
const DISPUTE_DUE = SETTLED_AT + 60n;
const ARBITRATION_DUE = DISPUTED_AT + 86_400n;

describe('the last second before a deadline', () => {
  it.each([
    ['deadline.acknowledged', 'JobAcknowledged', WORK_DUE],
    ['deadline.proven', 'JobProven', WORK_DUE],
    ['deadline.settled', 'JobSettled', WORK_DUE],
    ['deadline.failed', 'JobFailed', WORK_DUE],
    ['deadline.disputed', 'JobDisputed', DISPUTE_DUE],
    ['deadline.amended', 'DisputeAmended', ARBITRATION_DUE],
    ['deadline.resolved', 'DisputeResolved', ARBITRATION_DUE],
  ])('still belongs to it: %s', (rule, event, deadline) => {
    expect(judge(rule, event, deadline)).toBe('holds');
    expect(judge(rule, event, deadline + 1n)).toBe('fails');
  });

  it.each([
    ['deadline.refunded', 'JobRefunded', WORK_DUE],
    ['deadline.expired', 'DisputeExpired', ARBITRATION_DUE],
  ])('is too early for what follows it: %s', (rule, event, deadline) => {
    expect(judge(rule, event, deadline)).toBe('fails');
    expect(judge(rule, event, deadline + 1n)).toBe('holds');
  });

  it('is too early for a verdict in a window to dispute', () => {
    expect(judge('deadline.resolved', 'DisputeResolved', DISPUTE_DUE)).toBe('fails');
    expect(judge('deadline.resolved', 'DisputeResolved', DISPUTE_DUE + 1n)).toBe('holds');
  });
});
