import { type Finding, fails } from '../../check.ts';
import { compare } from '../../compare.ts';
import type { PlacedEvent } from '../evidence.ts';
import { judgeBalances } from '../judgeBalances.ts';
import type { JobRecord } from '../record.ts';
import { type Rule, rule } from '../rule.ts';
import { transfersOf } from '../tokenTransfers.ts';

/** A job that failed or was refunded costs nothing: all of its lock comes back, nobody is paid. */
export const returns: readonly Rule[] = [
  rule('failure.returned', ['JobLocked', 'JobFailed'], ({ JobLocked, JobFailed }, record) =>
    judgeReturn(JobLocked, JobFailed, record),
  ),
  rule('failure.balances', ['JobLocked', 'JobFailed'], ({ JobLocked, JobFailed }, record) =>
    judgeUnlock(JobLocked, JobFailed, record),
  ),
  rule('refund.returned', ['JobLocked', 'JobRefunded'], ({ JobLocked, JobRefunded }, record) =>
    judgeReturn(JobLocked, JobRefunded, record),
  ),
  rule('refund.balances', ['JobLocked', 'JobRefunded'], ({ JobLocked, JobRefunded }, record) =>
    judgeUnlock(JobLocked, JobRefunded, record),
  ),
];

type Return = PlacedEvent<'JobFailed' | 'JobRefunded'>;

function judgeReturn(
  { data: { lockedCredits } }: PlacedEvent<'JobLocked'>,
  end: Return,
  { addresses }: JobRecord,
): Finding {
  // Whoever sends a refund can move tokens of his own beside it.
  const vault = addresses.vault.toBase58();
  const transfer = transfersOf(end).find(({ from }) => from === vault);
  if (transfer) return fails(`${transfer.baseUnits} base units were paid to ${transfer.to}.`);
  return compare(
    { 'what was returned': [end.data.returnedCredits, lockedCredits] },
    `All ${lockedCredits} locked credits, and nobody was paid.`,
  );
}

function judgeUnlock(
  { data: { lockedCredits } }: PlacedEvent<'JobLocked'>,
  end: Return,
  record: JobRecord,
): Finding {
  return judgeBalances(record, end, {
    availableCredits: lockedCredits,
    lockedCredits: -lockedCredits,
  });
}
