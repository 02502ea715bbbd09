import type { PublicKey } from '@solana/web3.js';
import { balancesBefore } from './balances.ts';
import { type PlacedEvent, placeEvents } from './evidence.ts';
import type { LedgerReader } from './ledgerReader.ts';

/** Almost always the very next one tells; more than these are not read to find out. */
const READS_MAX = 50;

/**
 * The events of the job's credit account, with those that came right before each change of its
 * balances, so that every change can be compared with what was there.
 *
 * @param events all events of the job's transactions
 */
export async function gatherCreditEvents(
  reader: LedgerReader,
  job: PublicKey,
  events: readonly PlacedEvent[],
): Promise<PlacedEvent[]> {
  const creditAccount = events.flatMap(({ name, data }) =>
    name === 'JobLocked' && data.job.equals(job) ? [data.creditAccount] : [],
  )[0];
  if (!creditAccount) return [];
  const known = [...events];
  for (const { data, transaction } of events) {
    if (!('accountLockedCredits' in data) || !data.job.equals(job)) continue;
    let reads = 0;
    const isKnown = () => balancesBefore(known, creditAccount, data.creditSequence) !== undefined;
    if (isKnown()) continue;
    for await (const signature of reader.list(creditAccount, transaction.signature)) {
      const found = await reader.read(signature);
      if ('transaction' in found) known.push(...placeEvents(found.transaction));
      reads += 1;
      if (isKnown() || reads === READS_MAX) break;
    }
  }
  return known;
}
