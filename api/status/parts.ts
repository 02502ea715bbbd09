import type { Database } from '../../common/postgres.ts';
import { getSignaturesForAddress } from '../../programs/client/rpc/methods.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { selectBacklog } from '../sql/network.ts';
import type { Readiness } from './readiness.ts';

export interface PartServices {
  database: Database;
  rpc: Pick<Rpc, 'ask'>;
  programId: string;
  readiness: () => Promise<Readiness>;
}

/**
 * @returns what reads the parts of the service as they are now; it knows how old the mirror is once it
 *   has been called before
 */
export function createPartReader(services: PartServices) {
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
    // Without database or mirror the other parts are still shown.
    const isReadable = parts.database === 'ok' && parts.mirror === 'ok';
    const backlog = isReadable ? await selectBacklog(database) : null;
    const slot = backlog?.slot == null ? null : Number(backlog.slot);
    const unread = parts.database === 'ok' ? 'away' : 'unknown';
    const mirror = backlog ? lag.judge(slot) : unread;
    return {
      /** Whether this process takes requests, as far as it knows. */
      isReady: status === 'ready' && mirror !== 'away',
      parts: { ...parts, mirror },
      /** Of the program's newest transaction; null while the ledger is away. */
      newestSlot,
      /** Null while the database or the mirror is away. */
      backlog,
    };
  };
}

/** A mirror counts as away when it lacks slots that are older than this. */
const LAG_MS_MAX = 30_000;
const SAMPLES_MAX = 100;

/**
 * Judges how old the mirror is, by the slots that the ledger had at known times. Slots differ in length
 * from ledger to ledger: what counts is what the ledger had by then.
 *
 * @param nowMs a clock that never goes back
 */
export function createMirrorLag(nowMs: () => number) {
  const samples: { slot: number; atMs: number }[] = [];
  return {
    /** Records the slot of the ledger's newest transaction. */
    note(slot: number): void {
      samples.push({ slot, atMs: nowMs() });
      if (samples.length > SAMPLES_MAX) samples.shift();
    },
    /** `unknown` while the recorded slots prove neither. */
    judge(mirrorSlot: number | null): 'ok' | 'away' | 'unknown' {
      if (mirrorSlot === null) return 'away';
      const isOld = ({ atMs }: { atMs: number }) => nowMs() - atMs >= LAG_MS_MAX;
      if (samples.some((sample) => !isOld(sample) && sample.slot <= mirrorSlot)) return 'ok';
      return samples.some((sample) => isOld(sample) && sample.slot > mirrorSlot)
        ? 'away'
        : 'unknown';
    },
  };
}
