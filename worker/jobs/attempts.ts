import type { PublicKey } from '@solana/web3.js';

/** What one reading of the ledger said of a job's life, in the ledger's own Unix seconds. */
export interface JobLife {
  /** The moment of the reading. */
  unixSeconds: bigint;
  /** From then on anybody may refund the job. */
  deadlineSeconds: bigint;
}

/** Remembers which attempts were taken, so that no (job, attempt) is ever proven twice. */
export interface Attempts {
  isTaken(attempt: string): boolean;
  /** @returns false when the attempt was taken before or may have been, or when the memory is full */
  take(attempt: string, life: JobLife): boolean;
}

/**
 * A lock that a fork undid may land again, later by as much as its id's time may differ from the
 * ledger's: 90 s behind it and 30 s ahead.
 */
const DEADLINE_SHIFT_SECONDS_MAX = 120n;

/** Far above what one worker can answer while a job is remembered; about 20 MB. */
const ATTEMPTS_MAX = 100_000;

/**
 * An attempt is forgotten only when a reading of the ledger was past its job's deadline, and after
 * that no job with this deadline is taken, though a later reading may come from a node behind. The
 * clock of this machine decides nothing: the ledger's time may stand still while it runs.
 *
 * A full memory refuses instead of forgetting: a second, different proof of one attempt would
 * convict this worker.
 */
export function createAttempts(): Attempts {
  const lastSeconds = new Map<string, bigint>();
  let latestSeconds = 0n;

  function forgetPast(): void {
    for (const [attempt, last] of lastSeconds) {
      if (last < latestSeconds) lastSeconds.delete(attempt);
    }
  }

  return {
    isTaken: (attempt) => lastSeconds.has(attempt),
    take(attempt, { unixSeconds, deadlineSeconds }) {
      if (unixSeconds > latestSeconds) {
        latestSeconds = unixSeconds;
        forgetPast();
      }
      const isPast = deadlineSeconds < latestSeconds;
      if (isPast || lastSeconds.has(attempt) || lastSeconds.size >= ATTEMPTS_MAX) return false;
      lastSeconds.set(attempt, deadlineSeconds + DEADLINE_SHIFT_SECONDS_MAX);
      return true;
    },
  };
}

/** Runs whose engine works before the ledger's check has passed, kept apart by who asked for them. */
interface HeadStarts<Run> {
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

/** The keys whose jobs lately passed the ledger's check, and none since failed it. */
interface SignerMemory {
  has(signer: PublicKey): boolean;
  add(signer: PublicKey): void;
  forget(signer: PublicKey): void;
}

/** A worker serves a handful of gateways, and now and then a wallet that comes by itself. */
const SIGNERS_MAX = 256;

/**
 * Anybody can sign a request; only a key seen before makes the engine start ahead of the ledger's
 * answer, so that strangers cannot make it work for nothing. The memory permits nothing by itself.
 */
export function createSignerMemory(): SignerMemory {
  const signers = new Set<string>();
  return {
    has: (signer) => signers.has(signer.toBase58()),
    add(signer) {
      const key = signer.toBase58();
      signers.delete(key);
      signers.add(key);
      const [oldest] = signers;
      if (signers.size > SIGNERS_MAX && oldest !== undefined) signers.delete(oldest);
    },
    forget: (signer) => void signers.delete(signer.toBase58()),
  };
}
