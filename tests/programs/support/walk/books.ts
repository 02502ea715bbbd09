import type { Keypair, PublicKey } from '@solana/web3.js';
import type { DisputeOutcome } from '../../../../programs/client/generated/vocabulary.ts';
import type { JobStatus } from '../../../../programs/client/index.ts';
import type { TestWallet, TestWorker } from '../../../../testing/kit/cast.ts';
import { CREDITS, MODEL, SETTINGS, STAKE_TOKENS, type World } from '../world.ts';

export const NO_LIMIT = 2n ** 64n - 1n;
export const TIMEOUT_SECONDS = 120n;
export const DISPUTE_WINDOW_SECONDS = 60n;
export const ARBITRATION_WINDOW_SECONDS = 86_400n;
/** A job's account stays this long after its id's time, which is its lock's. */
export const CLOSE_AFTER_SECONDS = 120n;
export const DAY_SECONDS = 86_400n;

/** The state of the escrow as plain numbers: what the random walk holds the program against. */
export interface Books {
  /** The Clock, in Unix seconds. */
  now: bigint;
  wallets: WalletBook[];
  /** Without those that left and hold nothing any more. */
  workers: WorkerBook[];
  jobs: JobBook[];
  treasury: TreasuryBook;
  gateway: { trustsHotSigner: boolean; stopped: boolean; vouched: boolean };
  floor: { credits: bigint; earlierCredits: bigint; earlierEndsAt: bigint };
  terms: Terms;
  prices: Prices;
  /** Zero: no retirement is announced. */
  retiresAt: bigint;
  depositsPaused: boolean;
  locksPaused: boolean;
  authority: Keypair;
  pendingAuthority: Keypair | null;
  /** Token accounts that are frozen, by their addresses. */
  frozen: Set<string>;
}

interface TreasuryBook {
  /** What the treasury's vault holds. */
  baseUnits: bigint;
  unpaidBaseUnits: bigint;
  exposureBaseUnits: bigint;
  slashedTokens: bigint;
}

interface Terms {
  treasuryShareBasisPoints: number;
  slashTokens: number;
  openDisputesMax: number;
  unstakeCooldownSeconds: number;
}

export interface Prices {
  creditsPerRequest: number;
  creditsPer1kTokens: number;
}

export interface WalletBook {
  party: TestWallet;
  trustsGateway: boolean;
  limitPerJobCredits: bigint;
  limitPerDayCredits: bigint;
  spentDay: bigint;
  spentTodayCredits: bigint;
  availableCredits: bigint;
  lockedCredits: bigint;
  owedCredits: bigint;
  openDisputes: number;
}

export interface WorkerBook {
  party: TestWorker;
  status: 'active' | 'suspended' | 'deregistered';
  hosts: boolean;
  stakeTokens: bigint;
  unstakingTokens: bigint;
  unstakeReadyAt: bigint;
  cooldownSeconds: number;
  /** Zero: the proof key never changed. */
  proofKeyChangedAt: bigint;
  claimableBaseUnits: bigint;
}

export interface JobBook {
  address: PublicKey;
  status: JobStatus;
  wallet: WalletBook;
  /** Whether the gateway controls it; otherwise the wallet does. */
  isGateways: boolean;
  vouched: boolean;
  disputedByWallet: boolean;
  /** Signed the proof. */
  provenBy: Keypair | null;
  worker: WorkerBook | null;
  attempt: number;
  prices: Prices;
  terms: Terms;
  lockedAt: bigint;
  /** Whose limit counts the lock; zero when the wallet itself locked. */
  limitDay: bigint;
  lockedCredits: bigint;
  chargedCredits: bigint;
  endedAt: bigint;
  disputedAt: bigint;
  outcome: DisputeOutcome;
}

/** A wallet that has just opened its account. */
export const openBook = (party: TestWallet, trustsGateway: boolean): WalletBook => ({
  party,
  trustsGateway,
  limitPerJobCredits: trustsGateway ? NO_LIMIT : 0n,
  limitPerDayCredits: trustsGateway ? NO_LIMIT : 0n,
  spentDay: 0n,
  spentTodayCredits: 0n,
  availableCredits: 0n,
  lockedCredits: 0n,
  owedCredits: 0n,
  openDisputes: 0,
});

/** A worker that has just registered. */
export const registerBook = (party: TestWorker): WorkerBook => ({
  party,
  status: 'active',
  hosts: false,
  stakeTokens: 0n,
  unstakingTokens: 0n,
  unstakeReadyAt: 0n,
  cooldownSeconds: 0,
  proofKeyChangedAt: 0n,
  claimableBaseUnits: 0n,
});

/** What a fresh world looks like. */
export function openBooks(world: World, now: bigint): Books {
  const { treasuryShareBasisPoints, slashTokens, openDisputesMax } = SETTINGS;
  const { unstakeCooldownSeconds } = SETTINGS;
  const worker = { ...registerBook(world.workers[0]), cooldownSeconds: unstakeCooldownSeconds };
  const { creditsPerRequest, creditsPer1kTokens } = MODEL;
  return {
    now,
    wallets: [{ ...openBook(world.wallets[0], true), availableCredits: CREDITS }],
    workers: [{ ...worker, hosts: true, stakeTokens: STAKE_TOKENS }],
    jobs: [],
    treasury: { baseUnits: 0n, unpaidBaseUnits: 0n, exposureBaseUnits: 0n, slashedTokens: 0n },
    gateway: { trustsHotSigner: true, stopped: false, vouched: true },
    floor: { credits: 0n, earlierCredits: 0n, earlierEndsAt: 0n },
    terms: { treasuryShareBasisPoints, slashTokens, openDisputesMax, unstakeCooldownSeconds },
    prices: { creditsPerRequest, creditsPer1kTokens },
    retiresAt: 0n,
    depositsPaused: false,
    locksPaused: false,
    authority: world.authority,
    pendingAuthority: null,
    frozen: new Set(),
  };
}

/** Credits for an answer of so many tokens: per request up to 500, else per 1,000 begun. */
export const chargeFor = (prices: Prices, tokens: number): bigint =>
  tokens <= MODEL.longCompletionThresholdTokens
    ? BigInt(prices.creditsPerRequest)
    : (BigInt(tokens) * BigInt(prices.creditsPer1kTokens) + 999n) / 1_000n;

export const lockFor = (prices: Prices, tokenLimit: number): bigint => {
  const charge = chargeFor(prices, tokenLimit);
  const least = BigInt(prices.creditsPerRequest);
  return charge > least ? charge : least;
};

export const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);

export const holdsLock = ({ status }: JobBook): boolean =>
  status === 'pending' || status === 'processing' || status === 'settling';

export const isInTime = (books: Books, job: JobBook): boolean =>
  books.now <= job.lockedAt + TIMEOUT_SECONDS;
