import { fails, holds, notCheckable } from '../../check.ts';
import type { JobEvent, JobRecord } from '../record.ts';
import { historyRule } from '../rule.ts';

/** The lock first, then every change in the order in which the ledger executed it, none missing. */
export const sequence = historyRule('history.sequence', (record) => {
  const { events, unread, isComplete } = record;
  const misplaced = events.filter((event, index) => !follows(event, events[index - 1]));
  if (misplaced.length > 0) {
    const named = misplaced.map(({ name, data }) => `${name} (${data.jobSequence})`);
    return fails(`Out of place on the ledger: ${named.join(', ')}.`);
  }
  const reasons = [...new Set(unread.map(({ reason }) => ` ${reason}.`))].join('');
  if (!isComplete) return notCheckable(`${describeGap(record)}${reasons}`);
  const ignored =
    unread.length > 0 ? ` Unread, but without effect on the job: ${unread.length}.` : '';
  return holds(`${events.map(({ name }) => name).join(', ')}; none is missing.${ignored}`);
});

function follows(event: JobEvent, previous: JobEvent | undefined): boolean {
  if (event.data.slot !== event.transaction.slot) return false;
  if (previous === undefined) return event.data.jobSequence > 1 || event.name === 'JobLocked';
  if (previous.data.jobSequence === event.data.jobSequence) return false;
  if (previous.transaction !== event.transaction) {
    return previous.transaction.slot <= event.transaction.slot;
  }
  return previous.instructionIndex === event.instructionIndex
    ? previous.innerIndex < event.innerIndex
    : previous.instructionIndex < event.instructionIndex;
}

function describeGap({ events, account }: JobRecord): string {
  const last = events.at(-1)?.data.jobSequence ?? 0;
  if (account.kind === 'job' && account.data.sequence < last) {
    return 'The node shows an older state of the account than of its history.';
  }
  const end = account.kind === 'job' ? Math.max(account.data.sequence, last) : last;
  const known = new Set(events.map(({ data }) => data.jobSequence));
  const missing = Array.from({ length: end }, (_item, index) => index + 1).filter(
    (number) => !known.has(number),
  );
  return missing.length > 0
    ? `Of ${end} changes the node does not show number ${missing.join(', ')}.`
    : 'The node shows neither the account nor what closed it.';
}
