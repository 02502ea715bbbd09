import type { Keypair } from '@solana/web3.js';

/** Who pays for transactions, in turn. */
export interface FeePayers {
  /**
   * The next in turn that has not been tried; those that could not pay lately come last.
   * Undefined when all were tried.
   */
  next(tried: ReadonlySet<Keypair>): Keypair | undefined;
  /** It could not pay. @returns whether that is news, as it is once a minute at most */
  passOver(payer: Keypair): boolean;
}

/** Whoever runs short of lamports is usually given some within minutes. */
const PASSED_OVER_MS = 60_000;

/** @param options.nowMs a monotone clock in milliseconds */
export function createFeePayers(options: {
  keys: readonly Keypair[];
  nowMs: () => number;
}): FeePayers {
  const { keys, nowMs } = options;
  const passedOverMs = new Map<Keypair, number>();
  const toldMs = new Map<Keypair, number>();
  let turn = 0;

  function isLongAgo(times: Map<Keypair, number>, payer: Keypair): boolean {
    return nowMs() - (times.get(payer) ?? Number.NEGATIVE_INFINITY) >= PASSED_OVER_MS;
  }

  return {
    next(tried) {
      const left = keys.filter((key) => !tried.has(key));
      const able = left.filter((key) => isLongAgo(passedOverMs, key));
      const choice = able.length > 0 ? able : left;
      return choice[turn++ % choice.length];
    },
    passOver(payer) {
      passedOverMs.set(payer, nowMs());
      const isNews = isLongAgo(toldMs, payer);
      if (isNews) toldMs.set(payer, nowMs());
      return isNews;
    },
  };
}
