import { LRUCache } from 'lru-cache';
import { createJobId, formatJobId, jobIdTimeMs } from '../../programs/client/jobId.ts';
import { publicKeyOf } from '../../programs/client/publicKeyOf.ts';
import { LedgerUnavailableError } from '../../programs/client/sender/outcome.ts';
import type { LedgerContext } from './context.ts';
import type { Escrow, JobDraft } from './escrow.ts';

/** Far below the age at which the program refuses an id. */
const DRAFT_AGE_MS_MAX = 10_000;
/** Of the wallets that asked last. */
const DRAFTS_KEPT_MAX = 10_000;

/** Ids of jobs to come: some are drawn before anybody waits for them, since that takes a search. */
export interface Drafts {
  /** @throws LedgerUnavailableError while the ledger's time, by which the job is judged, is unknown */
  take: Escrow['draft'];
  drawAhead: Escrow['draftAhead'];
}

export function createDrafts({
  addresses,
  clock,
}: Pick<LedgerContext, 'addresses' | 'clock'>): Drafts {
  const { programId } = addresses;
  const ahead = new LRUCache<string, JobDraft>({ max: DRAFTS_KEPT_MAX });

  function draw(wallet: string): JobDraft {
    const creditAccount = addresses.creditAccount(publicKeyOf(wallet));
    const { bytes, address } = createJobId({ nowMs: clock.nowMs(), creditAccount, programId });
    return { id: formatJobId(bytes), bytes, address, creditAccount };
  }

  /** Not from before the ledger's time was corrected by much, either way. */
  function isFresh({ bytes }: JobDraft): boolean {
    return Math.abs(clock.nowMs() - jobIdTimeMs(bytes)) < DRAFT_AGE_MS_MAX;
  }

  return {
    take(wallet) {
      if (!clock.isRead) {
        throw new LedgerUnavailableError('The ledger was not reached yet', { signature: null });
      }
      const drawn = ahead.get(wallet);
      ahead.delete(wallet);
      return drawn && isFresh(drawn) ? drawn : draw(wallet);
    },
    drawAhead(wallet) {
      const drawn = ahead.get(wallet);
      if (!drawn || !isFresh(drawn)) ahead.set(wallet, draw(wallet));
    },
  };
}
