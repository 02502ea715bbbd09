import type { PublicKey } from '@solana/web3.js';
import { getRecentPrioritizationFees } from '../rpc/methods.ts';
import type { Rpc } from '../rpc/rpc.ts';
import type { SenderLog } from './sender.ts';

/** Fees move with each block, but our place in the queue hardly does. */
const REFRESH_MS = 10_000;
/** For a settlement's 22,200 compute units this is 0.00002 SOL: above it, waiting is cheaper. */
const MICRO_LAMPORTS_MAX = 1_000_000;

/**
 * What to pay per compute unit so that a transaction which writes these accounts lands soon. It is the
 * given estimate, or else the upper quartile of recent fees.
 *
 * Without a new estimate it is the last one, at first none: a slow transaction is better than one that
 * is not sent.
 *
 * @returns micro-lamports per compute unit
 */
export function createPriorityFee(options: {
  rpc: Rpc;
  writableAccounts: PublicKey[];
  /** A better estimate than the node's own, in micro-lamports per compute unit. */
  estimate?: ((accounts: readonly string[]) => Promise<number>) | undefined;
  logger: Pick<SenderLog, 'warn'>;
  nowMs: () => number;
}): () => Promise<number> {
  const { rpc, writableAccounts, logger, nowMs } = options;
  const { estimate = (accounts) => estimateFromRecentFees(rpc, accounts) } = options;
  let microLamports = 0;
  let askedMs = Number.NEGATIVE_INFINITY;

  async function refresh(): Promise<void> {
    askedMs = nowMs();
    try {
      const estimated = Math.ceil(await estimate(writableAccounts.map(String)));
      if (!(estimated >= 0)) throw new Error(`Invalid priority fee: ${estimated}`);
      microLamports = Math.min(MICRO_LAMPORTS_MAX, estimated);
    } catch (error) {
      logger.warn({ msg: 'Failed to read the priority fee', err: error });
    }
  }

  return async () => {
    // Not awaited: this transaction pays the last fee, the next ones the new one.
    if (nowMs() - askedMs >= REFRESH_MS) void refresh();
    return microLamports;
  };
}

async function estimateFromRecentFees(rpc: Rpc, accounts: readonly string[]): Promise<number> {
  const recent = await getRecentPrioritizationFees(rpc, [...accounts]);
  const fees = recent.sort((a, b) => a - b);
  return fees[Math.floor(fees.length * 0.75)] ?? 0;
}
