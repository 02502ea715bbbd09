import { createJobId, formatJobId } from '../../programs/client/jobId.ts';
import { publicKeyOf, spellingOf } from '../../programs/client/publicKeyOf.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/outcome.ts';
import type { LedgerContext } from './context.ts';
import type { JobDraft } from './escrow.ts';

/**
 * Draws the id of a job to come.
 *
 * @throws LedgerUnavailableError while the ledger's time, by which a job is judged, is unknown
 */
export function draftJob(
  { addresses, clock }: Pick<LedgerContext, 'addresses' | 'clock'>,
  wallet: string,
): JobDraft {
  if (!clock.isRead) {
    throw new LedgerUnavailableError('The ledger was not reached yet', { signature: null });
  }
  const { programId } = addresses;
  const creditAccount = addresses.creditAccount(publicKeyOf(wallet));
  const { bytes, address } = createJobId({ nowMs: clock.nowMs(), creditAccount, programId });
  // Its worker and the mirror are told of it by its spelling, and need not wait for that then.
  spellingOf(address);
  return { id: formatJobId(bytes), bytes, address, creditAccount };
}
