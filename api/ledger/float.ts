import type { PublicKey } from '@solana/web3.js';
import type { Commitment } from '../../common/net/commitment.ts';
import { getBalance } from '../../programs/client/rpc/methods.ts';
import type { Rpc } from '../../programs/client/rpc/rpc.ts';
import { RESERVE_LAMPORTS } from './deployment.ts';

/** What a lock takes at most: a Job's rent and the fees. */
const LOCK_LAMPORTS = 5_000_000;
/** From so old on the balance is read again, and later no lock rests on it before. */
const FLOAT_READ_MS = 5_000;
const FLOAT_STALE_MS = 30_000;

/**
 * What the hot signer has left to pay with. The balance is read every five seconds while locks are
 * sent, and whenever those that it may lack could have used it up.
 *
 * @param options.feePayers any but the first pay when it cannot: then locks never stop here
 */
export function createFloat(options: {
  rpc: Rpc;
  commitment: Commitment;
  feePayers: readonly PublicKey[];
  nowMs: () => number;
}) {
  const { rpc, commitment, nowMs } = options;
  const [signer, ...others] = options.feePayers.map(String);
  let sent = 0;
  let ended = 0;
  let known: { lamports: number; endedBefore: number; readMs: number } | undefined;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const before = { endedBefore: ended, readMs: nowMs() };
    try {
      const lamports = await getBalance(rpc, String(signer), { commitment });
      known = { lamports, ...before };
    } catch {
      // The lock's own transaction shows whether the ledger is away.
      known = undefined;
    }
    reading = undefined;
  }

  const refresh = (): Promise<void> => (reading ??= read());

  /** Every lock that had not ended when the balance was read may be missing in it. */
  function suffices(): boolean {
    if (!known) return true;
    const missing = (sent - known.endedBefore) * LOCK_LAMPORTS;
    return known.lamports - missing >= RESERVE_LAMPORTS;
  }

  return {
    /** Whether a lock leaves enough for settlements; undecided while no node answers. */
    async allowsLock(): Promise<boolean> {
      if (others.length > 0) return true;
      const ageMs = known ? nowMs() - known.readMs : Number.POSITIVE_INFINITY;
      const fresh = ageMs >= FLOAT_READ_MS ? refresh() : undefined;
      if (ageMs >= FLOAT_STALE_MS) await fresh;
      if (!suffices()) await refresh();
      return suffices();
    },
    /** Counts a lock that is sent, until its end is known. */
    async count<Result>(lock: Promise<Result>): Promise<Result> {
      sent += 1;
      try {
        return await lock;
      } finally {
        ended += 1;
      }
    },
  };
}
