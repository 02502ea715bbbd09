import type { ClaimedAttempt, ClaimLimits } from './claim.ts';

export type DeliveryLimits = ReturnType<typeof createDeliveryLimits>;

/** At the same time to one webhook, by all processes together. */
const WEBHOOK_ATTEMPTS_MAX = 4;
/** To one wallet's webhooks. Beyond that, those that have none in progress get one each. */
const WALLET_ATTEMPTS_MAX = 24;
/** Of those, claimed at once: all that is claimed may be one wallet's. */
const CLAIM_MAX = 16;
/** An honest receiver has answered by then, nearly always. */
const SLOW_MS = 2_000;
/** For how long a wallet is remembered after one of its receivers was slow. */
const SLOW_WALLET_MS = 600_000;
/** How many are remembered: those that were slow last. */
const SLOW_WALLETS_MAX = 1_000;
/** Begun for all wallets that were slow lately, together. */
const SLOW_ATTEMPTS_MAX = 64;
/** For all others. An attempt that turns out to be slow makes room after `SLOW_MS`. */
const QUICK_ATTEMPTS_MAX = 256;
/** What a process can bear; each is a connection. */
const ATTEMPTS_MAX = 1_024;

interface InProgress {
  readonly wallet: string;
  readonly beganMs: number;
}

/**
 * Limits the attempts of each wallet that this process makes at the same time. So a few wallets
 * whose receivers are slow cannot have them all.
 */
export function createDeliveryLimits(nowMs: () => number) {
  const inProgress = new Set<InProgress>();
  const slowWallets = createSlowWallets(nowMs);

  /** Wallets that have no room for a whole claim. */
  function fullWallets(): string[] {
    const counts = new Map<string, number>();
    for (const { wallet } of inProgress) counts.set(wallet, (counts.get(wallet) ?? 0) + 1);
    return [...counts.keys()].filter(
      (wallet) => (counts.get(wallet) ?? 0) + CLAIM_MAX > WALLET_ATTEMPTS_MAX,
    );
  }

  return {
    /**
     * What may be claimed now; undefined: nothing. `first` is for webhooks that have no attempt in
     * progress, one for each. So the backlog of one webhook hardly delays the others.
     */
    next(kind: 'first' | 'more'): ClaimLimits | undefined {
      const isFirst = kind === 'first';
      inProgress.forEach(slowWallets.note);
      const remembered = slowWallets.names();
      const slow = [...inProgress].filter(({ wallet }) => remembered.has(wallet)).length;
      const room = Math.min(
        QUICK_ATTEMPTS_MAX - (inProgress.size - slow),
        ATTEMPTS_MAX - inProgress.size,
        isFirst ? QUICK_ATTEMPTS_MAX : CLAIM_MAX,
      );
      if (room <= 0) return undefined;
      // A claim cannot be for slow wallets only. While these have room, it takes no more than that.
      const slowRoom = SLOW_ATTEMPTS_MAX - slow;
      const exceptWallets = new Set(slowRoom > 0 ? [] : remembered);
      if (!isFirst) for (const wallet of fullWallets()) exceptWallets.add(wallet);
      return {
        max: slowRoom > 0 ? Math.min(room, slowRoom) : room,
        webhookMax: isFirst ? 1 : WEBHOOK_ATTEMPTS_MAX,
        exceptWallets: [...exceptWallets],
      };
    },

    /** To be called when an attempt begins. @returns to be called when it ends */
    begin({ wallet }: ClaimedAttempt): () => void {
      const begun = { wallet, beganMs: nowMs() };
      inProgress.add(begun);
      return () => {
        slowWallets.note(begun);
        inProgress.delete(begun);
      };
    },
  };
}

/** Remembers the wallets whose receivers were slow lately. */
function createSlowWallets(nowMs: () => number) {
  /** When each was last seen to be slow, the longest ago first. */
  const slowAtMs = new Map<string, number>();
  return {
    /** Notes an attempt that is slow by now. */
    note({ wallet, beganMs }: InProgress): void {
      const now = nowMs();
      if (now - beganMs < SLOW_MS) return;
      slowAtMs.delete(wallet);
      slowAtMs.set(wallet, now);
    },
    names(): ReadonlySet<string> {
      for (const [wallet, atMs] of slowAtMs) {
        const isLate = nowMs() - atMs >= SLOW_WALLET_MS;
        if (!isLate && slowAtMs.size <= SLOW_WALLETS_MAX) break;
        slowAtMs.delete(wallet);
      }
      return new Set(slowAtMs.keys());
    },
  };
}
