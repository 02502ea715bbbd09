import type { Commitment } from '../../common/net/commitment.ts';
import type { Database } from '../../common/postgres.ts';
import type { Addresses } from '../../programs/client/addresses.ts';
import type { LedgerEvent } from '../fold/event.ts';
import type { LedgerSource } from '../source/source.ts';
import { allOf } from '../sql/writeChanges.ts';
import type { WebhookOutbox } from '../webhooks/announce/webhookOutbox.ts';
import { type NotifyReaders, notifyReaders } from './apply.ts';

/** What keeping the mirror takes. */
export interface MirrorContext {
  /** The connection that holds the lock: the only one that writes. */
  readonly database: Database;
  readonly source: LedgerSource;
  readonly addresses: Addresses;
  /** How sure the ledger must be of a transaction before it is applied. */
  readonly commitment: Commitment;
  /** Announces what is applied. Null for a rebuild, which repeats old events without notices. */
  readonly outbox: WebhookOutbox | null;
  /** Called after each commit with the events that it folded. */
  readonly onFolded: (events: readonly LedgerEvent[]) => void;
  /** Ends what takes long between two database transactions. */
  readonly signal: AbortSignal;
}

/** Notifies readers and webhooks of folded events. A rebuild, without outbox, notifies none. */
export function notifierOf({ outbox }: Pick<MirrorContext, 'outbox'>): NotifyReaders {
  return async (database, events) => {
    if (!outbox) return;
    await allOf([notifyReaders(database, events), outbox.announce(database, events)]);
  };
}

/** How far the mirror is behind the ledger. */
export interface Lag {
  /** Between the newest slot of the ledger and the one up to which the mirror is complete. */
  readonly slots: number;
  /** Since the mirror was last known to hold everything. */
  readonly ms: number;
}

export type Progress = ReturnType<typeof createProgress>;

/** Follows the ledger's newest slot and the mirror's sweeps. */
export function createProgress(nowMs: () => number) {
  let head = 0n;
  let complete: { slot: bigint; atMs: number } | undefined;
  /** Replaced each time that this process stops keeping the mirror. */
  let completed = Promise.withResolvers<void>();
  let incompleteSinceMs: number | undefined;
  /** What `incompleteMs` was when this process began to stand by. */
  let incompleteBeforeMs = 0;
  return {
    /** To be called when this process begins to keep the mirror. */
    lead(): void {
      // In an outage processes take turns of seconds, and each one's have to add up.
      incompleteSinceMs ??= nowMs() - incompleteBeforeMs;
    },
    sawHead(slot: bigint): void {
      head = slot;
    },
    /** @returns to be called when everything that the ledger listed to this sweep is applied */
    beginSweep(): () => void {
      const begun = { slot: head, atMs: nowMs() };
      const period = completed;
      return () => {
        // The sweep ended after this process had left the mirror.
        if (period !== completed) return;
        complete = begun;
        incompleteSinceMs = begun.atMs;
        completed.resolve();
      };
    },
    /** Resolves when this process has swept everything once since it began to keep the mirror. */
    whenComplete: (): Promise<void> => completed.promise,
    /** Undefined until then. A node that is behind another one may report a lower slot. */
    lag: (): Lag | undefined =>
      complete && {
        slots: Math.max(0, Number(head - complete.slot)),
        ms: nowMs() - complete.atMs,
      },
    /**
     * How long this process has had the mirror to keep since it last held everything, in milliseconds.
     * It goes on through a loss of the ledger or the database. Undefined while another process keeps
     * the mirror, and before this one ever did.
     */
    incompleteMs: (): number | undefined =>
      incompleteSinceMs === undefined ? undefined : nowMs() - incompleteSinceMs,
    /** To be called when this process no longer keeps the mirror, though it may do so again soon. */
    forget(): void {
      complete = undefined;
      completed = Promise.withResolvers();
    },
    /** To be called when another process keeps the mirror. */
    standBy(): void {
      if (incompleteSinceMs === undefined) return;
      incompleteBeforeMs = nowMs() - incompleteSinceMs;
      incompleteSinceMs = undefined;
    },
  };
}
