import type { PublicKey } from '@solana/web3.js';
import { balancesBefore, creditSequence } from './balances.ts';
import { type PlacedEvent, placeEvents } from './evidence.ts';
import type { LedgerReader } from './ledgerReader.ts';
import { readHistory } from './readHistory.ts';

/**
 * The events of the job's credit account, with those that came right before each change of its
 * balances, so that every change can be compared with what was there. Anybody can mention the
 * account: only what changed it is kept and counts.
 *
 * @param options.events all events of the job's transactions
 * @param options.historyMax how many changes before each of the job's are looked at
 */
export async function gatherCreditEvents(options: {
  reader: LedgerReader;
  job: PublicKey;
  events: readonly PlacedEvent[];
  historyMax: number;
}): Promise<PlacedEvent[]> {
  const { reader, job, events, historyMax } = options;
  const creditAccount = events.flatMap(({ name, data }) =>
    name === 'JobLocked' && data.job.equals(job) ? [data.creditAccount] : [],
  )[0];
  if (!creditAccount) return [];
  const known = [...events];
  for (const { data, transaction } of events) {
    if (!('accountLockedCredits' in data) || !data.job.equals(job)) continue;
    let changes = 0;
    const isKnown = () => balancesBefore(known, creditAccount, data.creditSequence) !== undefined;
    if (isKnown()) continue;
    const range = { before: transaction.signature };
    for await (const earlier of readHistory(reader, creditAccount, range)) {
      if (!('transaction' in earlier)) continue;
      const made = placeEvents(earlier.transaction);
      if (made.every((event) => creditSequence(event, creditAccount) === undefined)) continue;
      known.push(...made);
      changes += 1;
      if (isKnown() || changes === historyMax) break;
    }
  }
  return known;
}
