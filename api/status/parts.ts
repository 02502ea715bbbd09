import type { Database } from '../../common/postgres.ts';
import { getSignaturesForAddress } from '../../programs/client/rpc/methods.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { type BacklogRow, selectBacklog } from '../sql/network.ts';
import { createMirrorLag } from './mirrorLag.ts';
import type { Readiness } from './readiness.ts';

export interface PartServices {
  database: Database;
  rpc: Pick<Rpc, 'ask'>;
  programId: string;
  readiness: () => Promise<Readiness>;
}

/** The parts of the service as they are now. */
interface PartsNow {
  /** Whether this process takes requests, as far as it knows. */
  isReady: boolean;
  parts: Readiness['parts'] & { mirror: 'ok' | 'away' | 'unknown' };
  /** Of the program's newest transaction; null while the ledger is away. */
  newestSlot: number | null;
  /** Null while the database is away. */
  backlog: BacklogRow | null;
}

/** @returns what reads them; it knows how old the mirror is once it has been called before */
export function createPartReader(services: PartServices): () => Promise<PartsNow> {
  const { database, rpc, programId, readiness } = services;
  const lag = createMirrorLag(() => performance.now());

  /** The slot of the program's newest transaction. On an idle ledger, the mirror lacks nothing after it. */
  async function readNewest(): Promise<number | null> {
    const asked = { commitment: 'confirmed', limit: 1 } as const;
    try {
      const [newest] = await getSignaturesForAddress(rpc, programId, asked);
      return newest?.slot ?? 0;
    } catch {
      // The answer shows the ledger as away.
      return null;
    }
  }

  return async () => {
    const [{ status, parts }, newestSlot] = await Promise.all([readiness(), readNewest()]);
    if (newestSlot !== null) lag.note(newestSlot);
    // Without the database the other parts are still shown.
    const backlog = parts.database === 'ok' ? await selectBacklog(database) : null;
    const slot = backlog?.slot == null ? null : Number(backlog.slot);
    const mirror = backlog ? lag.judge(slot) : 'unknown';
    const isReady = status === 'ready' && mirror !== 'away';
    return { isReady, parts: { ...parts, mirror }, newestSlot, backlog };
  };
}
