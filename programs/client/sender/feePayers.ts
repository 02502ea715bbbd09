import type { Keypair } from '@solana/web3.js';
import type { Refusal } from './outcome.ts';

/** Who pays for transactions, in turn. */
export interface FeePayers {
  /**
   * The next in turn that has not been tried; those that could not pay lately come last.
   * Undefined when all were tried.
   */
  next(tried: ReadonlySet<Keypair>): Keypair | undefined;
  /** It could not pay. */
  passOver(payer: Keypair): void;
}

/** Whoever runs short of lamports is usually given some within minutes. */
const PASSED_OVER_MS = 60_000;

/** What the ledger says of a fee payer that cannot pay the fee, or not without falling below rent. */
const UNABLE_TO_PAY = new Set([
  'AccountNotFound',
  'InsufficientFundsForFee',
  'InsufficientFundsForRent',
]);
/** The system program's own word where an account cannot pay for another's rent. */
const RENT_NOT_PAID = '{"Custom":1}';

/** @param options.nowMs a monotone clock in milliseconds */
export function createFeePayers(options: {
  keys: readonly Keypair[];
  nowMs: () => number;
}): FeePayers {
  const { keys, nowMs } = options;
  const passedOverMs = new Map<Keypair, number>();
  let turn = 0;

  function couldPay(payer: Keypair): boolean {
    return nowMs() - (passedOverMs.get(payer) ?? Number.NEGATIVE_INFINITY) >= PASSED_OVER_MS;
  }

  return {
    next(tried) {
      const from = turn++ % keys.length;
      const left = [...keys.slice(from), ...keys.slice(0, from)].filter((key) => !tried.has(key));
      return left.find(couldPay) ?? left[0];
    },
    passOver(payer) {
      passedOverMs.set(payer, nowMs());
    },
  };
}

/**
 * Whether another fee payer may be able to pay what this one could not.
 *
 * @param paysRent whether the instructions have the fee payer pay rent, too
 */
export function isUnableToPay({ name }: Refusal, paysRent: boolean): boolean {
  return UNABLE_TO_PAY.has(name) || (paysRent && name === RENT_NOT_PAID);
}
