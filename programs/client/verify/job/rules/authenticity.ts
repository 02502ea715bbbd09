import { fails, holds } from '../../check.ts';
import { findLookalikes } from '../lookalikes.ts';
import { historyRule } from '../rule.ts';

/** All else is read from events, so these must be the program's own, and no others. */
export const authenticity = historyRule('history.authenticity', (record) => {
  const { events, transactions, isComplete, job } = record;
  const known = new Set(events.map(({ data }) => data.jobSequence));
  const lookalikes = transactions.flatMap((transaction) => findLookalikes(transaction, job));
  // Strangers may imitate events as they like: that matters only where the real one is missing.
  const substitutes = isComplete ? [] : lookalikes.filter(({ sequence }) => !known.has(sequence));
  if (substitutes.length > 0) {
    const named = substitutes.map(({ name, writer }) => `${name} was written by ${writer}`);
    return fails(`${named.join('; ')}, not by the program itself.`);
  }
  const ignored = lookalikes.length > 0 ? ` Ignored imitations: ${lookalikes.length}.` : '';
  return holds(`The program's event authority signed them. Events: ${events.length}.${ignored}`);
});
