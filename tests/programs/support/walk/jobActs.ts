import type { Keypair } from '@solana/web3.js';
import { FAILURE_REASONS } from '../../../../programs/client/generated/vocabulary.ts';
import { jobClose } from '../../../../programs/client/index.ts';
import { ANSWER, acknowledge, complete, fail, prove, refund, settle } from '../jobs.ts';
import { addresses, BASE_UNITS_PER_CREDIT, hashOf, SETTINGS } from '../world.ts';
import {
  CLOSE_AFTER_SECONDS,
  chargeFor,
  DISPUTE_WINDOW_SECONDS,
  holdsLock,
  isInTime,
  type JobBook,
  smaller,
  type WorkerBook,
} from './books.ts';
import { attempt, choose, isFrozen, pick, rarely, type Walk } from './walk.ts';

/** What can be done about a job, allowed or not. */
export type Act = (walk: Walk, job: JobBook) => Promise<void>;

/** The parties of a job, as the builders of its instructions take them. */
export const partiesOf = ({ world }: Walk, { wallet, worker }: JobBook) => ({
  ...world,
  wallet: wallet.party.keypair,
  creditAccount: wallet.party.creditAccount,
  worker: worker?.party.address ?? world.worker,
  payout: worker?.party.payout ?? world.payout,
  proofKey: worker?.party.proofKey ?? world.proofKey,
});

/** The key that signs for the job's controller. */
export const controllerOf = ({ world }: Walk, { isGateways, wallet }: JobBook): Keypair =>
  isGateways ? world.hotSigner : wallet.party.keypair;

/** Who signs for the controller, now and then somebody else, and whether that is allowed. */
export function actorOf(walk: Walk, job: JobBook) {
  const { world, books } = walk;
  const controller = controllerOf(walk, job);
  const key: Keypair = rarely(walk, 12) ? world.stranger : controller;
  const isTrusted = !job.isGateways || books.gateway.trustsHotSigner;
  return {
    key,
    mayAct: key === controller && isTrusted,
    actor: { signer: key.publicKey, gateway: world.gateway },
  };
}

const PROVEN_TOKENS = 2_500;

/** What is not charged is the wallet's again, and the limit's of the day that counted the lock. */
const release = ({ wallet, limitDay, lockedCredits }: JobBook, chargedCredits = 0n): void => {
  const returned = lockedCredits - chargedCredits;
  wallet.lockedCredits -= lockedCredits;
  wallet.availableCredits += returned;
  if (limitDay !== 0n && limitDay === wallet.spentDay) wallet.spentTodayCredits -= returned;
};

const isEligible = ({ status, hosts, unstakingTokens, stakeTokens }: WorkerBook): boolean =>
  status === 'active' &&
  hosts &&
  unstakingTokens === 0n &&
  stakeTokens >= SETTINGS.minimumStakeTokens;

/** Some worker for some attempt, and whether the job may be given to it, or is already. */
function drawAttempt(walk: Walk, job: JobBook) {
  const { books } = walk;
  const eligible = books.workers.filter(isEligible);
  const others = rarely(walk, 3) || eligible.length === 0 ? books.workers : eligible;
  const worker = job.worker !== null && rarely(walk, 3) ? job.worker : pick(walk, others);
  const attemptNumber = Math.min(job.attempt + choose(walk, 0, 1, 1, 1), 255);
  const repeats =
    (job.status === 'processing' || job.status === 'settling') &&
    job.worker === worker &&
    job.attempt === attemptNumber;
  const mayBeGiven =
    holdsLock(job) &&
    isInTime(books, job) &&
    attemptNumber > job.attempt &&
    !(job.isGateways && books.gateway.stopped) &&
    worker !== undefined &&
    isEligible(worker);
  return { worker, attemptNumber, repeats, mayBeGiven };
}

export async function acknowledgeJob(walk: Walk, job: JobBook): Promise<void> {
  const { worker, attemptNumber, repeats, mayBeGiven } = drawAttempt(walk, job);
  if (worker === undefined) return;
  const { mayAct, actor } = actorOf(walk, job);
  const choice = { attempt: attemptNumber, worker: worker.party.address, ...actor };
  const instruction = acknowledge(partiesOf(walk, job), job.address, choice);
  const allowed = mayAct && (repeats || mayBeGiven);
  if (!(await attempt(walk, allowed, instruction)) || repeats) return;
  Object.assign(job, { status: 'processing', worker, attempt: attemptNumber });
}

export async function proveJob(walk: Walk, job: JobBook): Promise<void> {
  const isNew = job.status === 'processing' && isInTime(walk.books, job);
  const proven = { completionTokens: PROVEN_TOKENS, attempt: job.attempt };
  const instruction = prove(partiesOf(walk, job), job.address, proven);
  if (await attempt(walk, isNew || job.status === 'settling', instruction)) {
    if (isNew) job.provenBy = job.worker?.party.proofKey ?? null;
    job.status = 'settling';
  }
}

export async function settleJob(walk: Walk, job: JobBook): Promise<void> {
  const { books, random } = walk;
  const { mayAct, actor } = actorOf(walk, job);
  const countedTokens = random.below(4_000);
  const instruction = settle(partiesOf(walk, job), job.address, { countedTokens, ...actor });
  const allowed = mayAct && job.status === 'settling' && isInTime(books, job) && countedTokens > 0;
  if (await attempt(walk, allowed, instruction)) charge(walk, job, countedTokens);
}

/** Acknowledges, proves and settles at once. */
export async function completeJob(walk: Walk, job: JobBook): Promise<void> {
  const { books, random } = walk;
  const { worker, attemptNumber, repeats, mayBeGiven } = drawAttempt(walk, job);
  if (worker === undefined) return;
  const { mayAct, actor } = actorOf(walk, job);
  const countedTokens = random.below(4_000);
  const isForged = rarely(walk, 8);
  const instruction = complete(partiesOf(walk, { ...job, worker }), job.address, {
    ...{ attempt: attemptNumber, completionTokens: PROVEN_TOKENS, countedTokens, ...actor },
    ...(isForged && { signature: random.bytes(64) }),
  });
  const allowed =
    mayAct &&
    !isForged &&
    job.status !== 'settling' &&
    (repeats || mayBeGiven) &&
    isInTime(books, job) &&
    countedTokens > 0;
  if (!(await attempt(walk, allowed, instruction))) return;
  const provenBy = worker.party.proofKey;
  Object.assign(job, { worker, attempt: attemptNumber, provenBy });
  charge(walk, job, countedTokens);
}

function charge(walk: Walk, job: JobBook, countedTokens: number): void {
  const price = chargeFor(job.prices, Math.min(countedTokens, PROVEN_TOKENS));
  const credits = smaller(price, job.lockedCredits);
  release(job, credits);
  pay(walk, job, credits);
  Object.assign(job, { status: 'settled', endedAt: walk.books.now, chargedCredits: credits });
}

/** Shares a charge between worker and treasury; what cannot be paid now becomes claimable. */
function pay(walk: Walk, { worker, terms }: JobBook, credits: bigint): void {
  const { treasury } = walk.books;
  const ofTreasury = credits * BigInt(terms.treasuryShareBasisPoints);
  const vaultPays = !isFrozen(walk, addresses.vault);
  if (worker !== null && !(vaultPays && !isFrozen(walk, worker.party.payout))) {
    worker.claimableBaseUnits += credits * BASE_UNITS_PER_CREDIT - ofTreasury;
  }
  if (vaultPays && !isFrozen(walk, addresses.treasuryVault)) treasury.baseUnits += ofTreasury;
  else treasury.unpaidBaseUnits += ofTreasury;
}

/** Behind the instruction's discriminator. */
const REASON_OFFSET = 8;

export async function failJob(walk: Walk, job: JobBook): Promise<void> {
  const { mayAct, actor } = actorOf(walk, job);
  const differs = rarely(walk, 2);
  /** One more than there are reasons. */
  const byte = walk.random.below(FAILURE_REASONS.length + 1);
  const allowed =
    mayAct &&
    holdsLock(job) &&
    isInTime(walk.books, job) &&
    byte >= 1 &&
    byte < FAILURE_REASONS.length &&
    (job.status !== 'settling' || differs);
  const delivered = { deliveredHash: differs ? hashOf('other') : ANSWER, countedTokens: 5 };
  const instruction = fail(partiesOf(walk, job), job.address, { ...delivered, ...actor });
  instruction.data[REASON_OFFSET] = byte;
  if (!(await attempt(walk, allowed, instruction))) return;
  release(job);
  job.status = 'failed';
}

/** Gives a job's lock back when its time is over. */
export async function refundJob(walk: Walk, job: JobBook): Promise<void> {
  const allowed = holdsLock(job) && !isInTime(walk.books, job);
  const instruction = refund(partiesOf(walk, job), job.address);
  if (!(await attempt(walk, allowed, instruction))) return;
  release(job);
  job.status = 'refunded';
}

export async function closeJob(walk: Walk, job: JobBook): Promise<void> {
  const { world, books } = walk;
  const isDecided = job.outcome !== 'none' || books.now > job.endedAt + DISPUTE_WINDOW_SECONDS;
  const isFinal =
    job.status === 'failed' || job.status === 'refunded' || (job.status === 'settled' && isDecided);
  const payer = world.chain.payer.publicKey;
  const rentPayer = rarely(walk, 10) ? world.stranger.publicKey : payer;
  const allowed = isFinal && rentPayer === payer && books.now >= job.lockedAt + CLOSE_AFTER_SECONDS;
  if (await attempt(walk, allowed, jobClose({ job: job.address, rentPayer }))) {
    books.jobs = books.jobs.filter((other) => other !== job);
  }
}
