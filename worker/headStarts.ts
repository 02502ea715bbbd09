import type { PublicKey } from '@solana/web3.js';

/** Runs whose engine works before the ledger's check has passed, kept apart by who asked for them. */
export interface HeadStarts<Run> {
  readonly size: number;
  /** Whether one more may run ahead for this signer. */
  isFree(signer: PublicKey): boolean;
  has(signer: PublicKey, attempt: string): boolean;
  add(signer: PublicKey, attempt: string, run: Run): void;
  /** Removes this very run; another that took its place since then stays. */
  delete(signer: PublicKey, attempt: string, run: Run): void;
  /** Those of one attempt, of which the ledger's check lets through one at most. */
  of(attempt: string): Run[];
  all(): Run[];
}

/** A gateway's checks take some milliseconds each, so that few are under way at the same moment. */
const RUNS_PER_SIGNER_MAX = 8;
/** Many signers together leave room for jobs that are paid for; a worker's only slot is for these. */
const SHARE_OF_SLOTS_MAX = 0.5;

/**
 * Anybody may claim any attempt until the ledger has spoken. So a claim never stands in the way of
 * another signer's, and those who claim for nothing cannot fill the worker.
 *
 * @param slots how many jobs the worker takes at once
 */
export function createHeadStarts<Run>(slots: number): HeadStarts<Run> {
  const bySigner = new Map<string, Map<string, Run>>();
  const runsMax = Math.floor(slots * SHARE_OF_SLOTS_MAX);
  let size = 0;
  const runsOf = (signer: PublicKey) => bySigner.get(signer.toBase58());

  return {
    get size() {
      return size;
    },
    isFree(signer) {
      const own = runsOf(signer)?.size ?? 0;
      return own < RUNS_PER_SIGNER_MAX && size < runsMax;
    },
    has: (signer, attempt) => runsOf(signer)?.has(attempt) ?? false,
    add(signer, attempt, run) {
      const runs = runsOf(signer) ?? new Map<string, Run>();
      bySigner.set(signer.toBase58(), runs.set(attempt, run));
      size += 1;
    },
    delete(signer, attempt, run) {
      const runs = runsOf(signer);
      if (runs?.get(attempt) !== run) return;
      runs.delete(attempt);
      size -= 1;
      if (runs.size === 0) bySigner.delete(signer.toBase58());
    },
    of: (attempt) => [...bySigner.values()].flatMap((runs) => runs.get(attempt) ?? []),
    all: () => [...bySigner.values()].flatMap((runs) => [...runs.values()]),
  };
}
