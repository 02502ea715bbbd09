import type { Commitment } from '../../common/net/commitment.ts';
import type { Database } from '../../common/postgres.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { LedgerEvent } from '../fold/event.ts';
import type { LedgerSource } from '../source/source.ts';
import type { Announcer } from '../webhooks/announce/announcer.ts';
import { type NotifyReaders, notifyReaders } from './apply.ts';

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

/** Tells readers and webhooks of what is folded; nobody where the mirror is only made anew. */
export function notifierOf({ announcer }: Pick<MirrorContext, 'announcer'>): NotifyReaders {
  return async (database, events) => {
    if (!announcer) return;
    const ends = await Promise.allSettled([
      notifyReaders(database, events),
      announcer.announce(database, events),
    ]);
    // Not sooner: what the other went on to send would come behind the rollback, and stay.
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  };
}

/** How far the mirror is behind the ledger. */
export interface Lag {
  /** Between the newest slot of the ledger and the one up to which the mirror is complete. */
  readonly slots: number;
  /** Since the mirror was last known to hold everything. */
  readonly ms: number;
}

/** Follows the ledger's newest slot and the mirror's sweeps. */
export interface Progress {
  /** To be called when this process begins to keep the mirror. */
  lead(): void;
  sawHead(slot: bigint): void;
  /** @returns to be called when everything that the ledger listed to this sweep is applied */
  beginSweep(): () => void;
  /** Resolves when this process has swept everything once since it began to keep the mirror. */
  whenComplete(): Promise<void>;
  /** Undefined until this process has swept everything once since it began to keep the mirror. */
  lag(): Lag | undefined;
  /**
   * How long this process has had the mirror to keep since it last held everything, in milliseconds.
   * It goes on through a loss of the ledger or the database. Undefined while another process keeps
   * the mirror, and before this one ever did.
   */
  incompleteMs(): number | undefined;
  /** To be called when this process no longer keeps the mirror, though it may do so again soon. */
  forget(): void;
  /** To be called when another process keeps the mirror. */
  standBy(): void;
}

export function createProgress(nowMs: () => number): Progress {
  let head = 0n;
  let complete: { slot: bigint; atMs: number } | undefined;
  /** Another one each time that this process begins to keep the mirror. */
  let completed = Promise.withResolvers<void>();
  let incompleteSinceMs: number | undefined;
  /** What had come together before this process stood by. */
  let incompleteBeforeMs = 0;
  return {
    lead() {
      // In an outage several processes take turns of seconds: each one's must add up, not begin anew.
      incompleteSinceMs ??= nowMs() - incompleteBeforeMs;
    },
    sawHead(slot) {
      head = slot;
    },
    beginSweep() {
      const begun = { slot: head, atMs: nowMs() };
      const period = completed;
      return () => {
        // It ended after this process had left the mirror.
        if (period !== completed) return;
        complete = begun;
        incompleteSinceMs = begun.atMs;
        completed.resolve();
      };
    },
    whenComplete: () => completed.promise,
    // A node behind another one may tell of a lower slot.
    lag: () =>
      complete && {
        slots: Math.max(0, Number(head - complete.slot)),
        ms: nowMs() - complete.atMs,
      },
    incompleteMs: () => (incompleteSinceMs === undefined ? undefined : nowMs() - incompleteSinceMs),
    forget() {
      complete = undefined;
      completed = Promise.withResolvers();
    },
    standBy() {
      if (incompleteSinceMs === undefined) return;
      incompleteBeforeMs = nowMs() - incompleteSinceMs;
      incompleteSinceMs = undefined;
    },
  };
}
