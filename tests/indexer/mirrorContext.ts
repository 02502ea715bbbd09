import type pg from 'pg';
import type { MirrorContext } from '../../indexer/mirror/progress.ts';
import type { LedgerSource } from '../../indexer/source/source.ts';
import { addresses } from '../../testing/indexer/scene.ts';

/** What keeps a mirror of the ledger, without listeners. */
export function contextOf(
  database: pg.PoolClient,
  source: LedgerSource,
  signal = new AbortController().signal,
): MirrorContext {
  return {
    ...{ database, source, addresses, signal },
    commitment: 'confirmed',
    outbox: null,
    onFolded: () => {},
  };
}
