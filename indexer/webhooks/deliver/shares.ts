import type { TakenAttempt, Turn } from './take.ts';

/**
 * Who may have how many of the attempts that this process makes at the same time, so that a few
 * wallets whose receivers are slow cannot have them all.
 */
export interface Shares {
  /**
   * What may be taken now; undefined: nothing. `first` is for webhooks that have no attempt under
   * way, one for each: so the backlog of one webhook stands little in the others' way.
   */
  turn(kind: 'first' | 'more'): Turn | undefined;
  /** To be called when an attempt begins. @returns to be called when it ends */
  begin(attempt: TakenAttempt): () => void;
}

/** At the same time to one webhook, by all processes together. */
const WEBHOOK_ATTEMPTS_MAX = 4;
/** To one wallet's webhooks; beyond, those that have none under way have one each. */
const WALLET_ATTEMPTS_MAX = 24;
/** Of those, taken in one turn: what it takes may be one wallet's. */
const TURN_MAX = 16;
/** An honest receiver has answered by then, nearly always. */
const SLOW_MS = 2_000;
/** For how long a wallet is remembered after one of its receivers was slow. */
const SLOW_WALLET_MS = 600_000;
/** So many of them are remembered, those that were slow last. */
const SLOW_WALLETS_MAX = 1_000;
/** Begun for all wallets that were slow lately, together. */
const SLOW_ATTEMPTS_MAX = 64;
/** For all others. An attempt that turns out to be slow makes room after `SLOW_MS`. */
const QUICK_ATTEMPTS_MAX = 256;
/** What a process can bear; each is a connection. */
const ATTEMPTS_MAX = 1_024;

interface UnderWay {
  readonly wallet: string;
  readonly beganMs: number;
}

export function createShares(nowMs: () => number): Shares {
  const underWay = new Set<UnderWay>();
  /** When each was last seen to be slow, the longest ago first. */
  const slowWallets = new Map<string, number>();

  function noteIfSlow({ wallet, beganMs }: UnderWay): void {
    const now = nowMs();
    if (now - beganMs < SLOW_MS) return;
    slowWallets.delete(wallet);
    slowWallets.set(wallet, now);
  }

  function forgetSlow(): void {
    for (const [wallet, atMs] of slowWallets) {
      const isLate = nowMs() - atMs >= SLOW_WALLET_MS;
      if (!isLate && slowWallets.size <= SLOW_WALLETS_MAX) return;
      slowWallets.delete(wallet);
    }
  }

  function countByWallet(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { wallet } of underWay) counts.set(wallet, (counts.get(wallet) ?? 0) + 1);
    return counts;
  }

  return {
    turn(kind) {
      const isFirst = kind === 'first';
      underWay.forEach(noteIfSlow);
      forgetSlow();
      let slow = 0;
      for (const { wallet } of underWay) if (slowWallets.has(wallet)) slow += 1;
      const quickRoom = QUICK_ATTEMPTS_MAX - (underWay.size - slow);
      const room = Math.min(
        ...[quickRoom, ATTEMPTS_MAX - underWay.size],
        isFirst ? QUICK_ATTEMPTS_MAX : TURN_MAX,
      );
      if (room <= 0) return undefined;
      // Nobody can be asked for slow ones only: while these have room, a turn takes no more than it.
      const slowRoom = SLOW_ATTEMPTS_MAX - slow;
      const exceptWallets = new Set(slowRoom > 0 ? [] : slowWallets.keys());
      if (!isFirst) {
        for (const [wallet, count] of countByWallet()) {
          if (count + TURN_MAX > WALLET_ATTEMPTS_MAX) exceptWallets.add(wallet);
        }
      }
      return {
        max: slowRoom > 0 ? Math.min(room, slowRoom) : room,
        webhookMax: isFirst ? 1 : WEBHOOK_ATTEMPTS_MAX,
        exceptWallets: [...exceptWallets],
      };
    },

    begin({ wallet }) {
      const begun = { wallet, beganMs: nowMs() };
      underWay.add(begun);
      return () => {
        noteIfSlow(begun);
        underWay.delete(begun);
      };
    },
  };
}
