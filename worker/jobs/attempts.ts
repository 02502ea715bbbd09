import type { PublicKey } from '@solana/web3.js';

/** The time of a reading and the job's deadline, in the ledger's Unix seconds. */
export interface JobLife {
  /** The time of the reading. */
  unixSeconds: bigint;
  /** From this time any key may refund the job. */
  deadlineSeconds: bigint;
}

/** The attempts that were taken, so that no (job, attempt) is ever proven twice. */
export interface Attempts {
  isTaken(attempt: string): boolean;
  /** @returns false when the attempt was or may have been taken before, or when the record is full */
  take(attempt: string, life: JobLife): boolean;
}

/**
 * A lock that a fork dropped may land again later. Its id's time may be 90 s behind the ledger's and
 * 30 s ahead, so the deadline may shift by the sum.
 */
const DEADLINE_SHIFT_SECONDS_MAX = 120n;

/** Far more than one worker can answer before an attempt is deleted; about 20 MB. */
const ATTEMPTS_MAX = 100_000;

/**
 * An attempt is deleted only when a reading of the ledger was past its job's deadline. After that no
 * job with this deadline is taken, even if a later reading comes from a node that is behind. The
 * machine's clock plays no part, because the ledger's time may stand still while it runs.
 *
 * A full record refuses attempts and deletes none: a second, different proof of one attempt would
 * convict this worker.
 */
export function createAttempts(): Attempts {
  const deletableAtSeconds = new Map<string, bigint>();
  let latestSeconds = 0n;

  function deletePast(): void {
    for (const [attempt, seconds] of deletableAtSeconds) {
      if (seconds < latestSeconds) deletableAtSeconds.delete(attempt);
    }
  }

  return {
    isTaken: (attempt) => deletableAtSeconds.has(attempt),
    take(attempt, { unixSeconds, deadlineSeconds }) {
      if (unixSeconds > latestSeconds) {
        latestSeconds = unixSeconds;
        deletePast();
      }
      const isPast = deadlineSeconds < latestSeconds;
      const isFull = deletableAtSeconds.size >= ATTEMPTS_MAX;
      if (isPast || isFull || deletableAtSeconds.has(attempt)) return false;
      deletableAtSeconds.set(attempt, deadlineSeconds + DEADLINE_SHIFT_SECONDS_MAX);
      return true;
    },
  };
}

/** Runs whose engine works before the ledger's check has passed, by signer and attempt. */
interface EarlyStarts<Run> {
  readonly size: number;
  /** Whether one more run may start early for this signer. */
  hasCapacity(signer: PublicKey): boolean;
  has(signer: PublicKey, attempt: string): boolean;
  add(signer: PublicKey, attempt: string, run: Run): void;
  /** Removes this run only; a later run under the same attempt stays. */
  delete(signer: PublicKey, attempt: string, run: Run): void;
  /** The runs of one attempt. The ledger's check admits at most one of them. */
  of(attempt: string): Run[];
  all(): Run[];
}

/** A gateway's checks take some milliseconds each, so few run at the same time. */
const RUNS_PER_SIGNER_MAX = 8;
/** Admitted jobs keep the rest of the capacity. A worker with capacity for one job starts none early. */
const SHARE_OF_CAPACITY_MAX = 0.5;

/**
 * Anybody may claim any attempt until the ledger's check. So a claim never blocks another signer's,
 * and false claims cannot use up the worker's capacity.
 *
 * @param capacity how many jobs the worker takes at once
 */
export function createEarlyStarts<Run>(capacity: number): EarlyStarts<Run> {
  const bySigner = new Map<string, Map<string, Run>>();
  const runsMax = Math.floor(capacity * SHARE_OF_CAPACITY_MAX);
  let size = 0;
  const runsOf = (signer: PublicKey) => bySigner.get(signer.toBase58());

  return {
    get size() {
      return size;
    },
    hasCapacity(signer) {
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

/** The keys whose last job passed the ledger's check. */
interface KnownSigners {
  has(signer: PublicKey): boolean;
  add(signer: PublicKey): void;
  delete(signer: PublicKey): void;
}

/** A worker serves a few gateways, and sometimes a wallet that sends its own jobs. */
const SIGNERS_MAX = 256;

/**
 * Anybody can sign a request. Only for a known key does the engine start before the ledger's check,
 * so that unknown signers cannot make it work unpaid. Being known permits nothing else.
 */
export function createKnownSigners(): KnownSigners {
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
    delete: (signer) => void signers.delete(signer.toBase58()),
  };
}
