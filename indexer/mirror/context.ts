import type { Database } from '../../common/postgres.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { LedgerEvent } from '../decode.ts';
import type { Commitment, LedgerSource } from '../source/source.ts';
import type { Announcer } from '../webhooks/announce/announcer.ts';

/** What keeping the mirror takes. */
export interface MirrorContext {
  /** The connection that holds the lock: the only one that writes. */
  readonly database: Database;
  readonly source: LedgerSource;
  readonly addresses: Addresses;
  /** How sure the ledger must be of a transaction before it is applied. */
  readonly commitment: Commitment;
  /**
   * Told of what is applied, where that is news. Null for a rebuild, which repeats what was told
   * long ago: it notifies nobody and queues no webhook.
   */
  readonly announcer: Announcer | null;
  /** Told of what a database transaction folded, after its commit. */
  readonly onFolded: (events: readonly LedgerEvent[]) => void;
  /** Ends whatever takes long between two database transactions. */
  readonly signal: AbortSignal;
}
