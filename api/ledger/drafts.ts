import { LRUCache } from 'lru-cache';
import { createJobId, formatJobId, jobIdTimeMs } from '../../programs/client/jobId.ts';
import { publicKeyOf, spellingOf } from '../../programs/client/publicKeyOf.ts';
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
  // A draft that is taken leaves its wallet's place empty: of a cache that loses its last entry, all
  // places are written anew.
  const ahead = new LRUCache<string, { draft: JobDraft | undefined }>({ max: DRAFTS_KEPT_MAX });

  function draw(wallet: string): JobDraft {
    const creditAccount = addresses.creditAccount(publicKeyOf(wallet));
    const { bytes, address } = createJobId({ nowMs: clock.nowMs(), creditAccount, programId });
    // Its worker and the mirror are told of it by its spelling, and need not wait for that then.
    spellingOf(address);
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
      const place = ahead.get(wallet);
      const drawn = place?.draft;
      if (place) place.draft = undefined;
      return drawn && isFresh(drawn) ? drawn : draw(wallet);
    },
    drawAhead(wallet) {
      const drawn = ahead.get(wallet)?.draft;
      if (!drawn || !isFresh(drawn)) ahead.set(wallet, { draft: draw(wallet) });
    },
  };
}
