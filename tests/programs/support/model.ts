import type { STATUS } from './jobs.ts';

/** The rules of the escrow as plain numbers: what the random walk holds the program against. */
export interface ModelJob {
  status: keyof typeof STATUS;
  lockedAt: bigint;
  lock: bigint;
  charge: bigint;
  endedAt: bigint;
  disputedAt: bigint;
  outcome: number;
}

export interface Books {
  available: bigint;
  locked: bigint;
  owed: bigint;
  openDisputes: number;
  exposure: bigint;
  /** What the treasury vault holds, in base units. */
  treasury: bigint;
  stake: bigint;
  slashed: bigint;
}

export const TIMEOUT = 120n;
export const DISPUTE_WINDOW = 60n;
export const ARBITRATION_WINDOW = 86_400n;
const BASE_UNITS = 10_000n;

/** Credits for so many tokens: 8 up to 500, else 4 per 1,000 begun. */
export const priceOf = (tokens: number): bigint =>
  tokens <= 500 ? 8n : (BigInt(tokens) * 4n + 999n) / 1_000n;
export const lockOf = (tokens: number): bigint => {
  const price = priceOf(tokens);
  return price > 8n ? price : 8n;
};

export const holdsLock = (job: ModelJob): boolean =>
  job.status === 'pending' || job.status === 'processing' || job.status === 'settling';

export const release = (books: Books, job: ModelJob): void => {
  books.locked -= job.lock;
  books.available += job.lock;
};

export const settle = (books: Books, job: ModelJob, tokens: number): void => {
  job.charge = priceOf(tokens);
  if (job.charge > job.lock) job.charge = job.lock;
  books.locked -= job.lock;
  books.available += job.lock - job.charge;
  books.treasury += job.charge * 1_500n;
};

/** A verdict: 1 rejected, 2 upheld against the gateway, 3 against the worker. */
export const resolve = (books: Books, job: ModelJob, verdict: number): void => {
  books.openDisputes -= 1;
  books.exposure -= job.charge * BASE_UNITS;
  if (verdict === 1) return;
  books.owed += job.charge;
  if (verdict === 3) {
    const slash = books.stake < 500n ? books.stake : 500n;
    books.stake -= slash;
    books.slashed += slash;
  }
};

export const claim = (books: Books): bigint => {
  const covered = books.treasury / BASE_UNITS;
  const credits = covered < books.owed ? covered : books.owed;
  books.owed -= credits;
  books.available += credits;
  books.treasury -= credits * BASE_UNITS;
  return credits;
};
