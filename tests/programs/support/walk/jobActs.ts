import { FAILURE_REASONS } from '../../../../programs/client/generated/vocabulary.ts';
import { jobClose } from '../../../../programs/client/index.ts';
import { ANSWER, acknowledge, fail, prove, refund, settle } from '../jobs.ts';
import { addresses, BASE_UNITS_PER_CREDIT, hashOf, SETTINGS } from '../world.ts';
import { actorOf, partiesOf } from './actor.ts';
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

const PROVEN_TOKENS = 2_500;

const release = ({ wallet, lockedCredits }: JobBook, chargedCredits = 0n): void => {
  wallet.lockedCredits -= lockedCredits;
  wallet.availableCredits += lockedCredits - chargedCredits;
};

const isEligible = ({ status, hosts, unstakingTokens, stakeTokens }: WorkerBook): boolean =>
  status === 'active' &&
  hosts &&
  unstakingTokens === 0n &&
  stakeTokens >= SETTINGS.minimumStakeTokens;

export async function acknowledgeJob(walk: Walk, job: JobBook): Promise<void> {
  const { books } = walk;
  const eligible = books.workers.filter(isEligible);
  const worker = pick(walk, rarely(walk, 3) || eligible.length === 0 ? books.workers : eligible);
  if (worker === undefined) return;
  const attemptNumber = Math.min(job.attempt + choose(walk, 0, 1, 1, 1), 255);
  const { key, mayAct, actor } = actorOf(walk, job);
  const repeats =
    (job.status === 'processing' || job.status === 'settling') &&
    job.worker === worker &&
    job.attempt === attemptNumber;
  const isNewer =
    holdsLock(job) &&
    isInTime(books, job) &&
    attemptNumber > job.attempt &&
    !(job.isGateways && books.gateway.stopped);
  const choice = { attempt: attemptNumber, worker: worker.party.address, ...actor };
  const instruction = acknowledge(partiesOf(walk, job), job.address, choice);
  const allowed = mayAct && (repeats || (isNewer && isEligible(worker)));
  if (!(await attempt(walk, allowed, [instruction], [key])) || repeats) return;
  Object.assign(job, { status: 'processing', worker, attempt: attemptNumber });
}

export async function proveJob(walk: Walk, job: JobBook): Promise<void> {
  const isNew = job.status === 'processing' && isInTime(walk.books, job);
  const proven = { completionTokens: PROVEN_TOKENS, attempt: job.attempt };
  const instructions = prove(partiesOf(walk, job), job.address, proven);
  if (await attempt(walk, isNew || job.status === 'settling', instructions, [])) {
    if (isNew) job.provenBy = job.worker?.party.proofKey ?? null;
    job.status = 'settling';
  }
}

export async function settleJob(walk: Walk, job: JobBook): Promise<void> {
  const { books, random } = walk;
  const { key, mayAct, actor } = actorOf(walk, job);
  const countedTokens = random.below(4_000);
  const instruction = settle(partiesOf(walk, job), job.address, { countedTokens, ...actor });
  const allowed = mayAct && job.status === 'settling' && isInTime(books, job) && countedTokens > 0;
  if (!(await attempt(walk, allowed, [instruction], [key]))) return;
  const price = chargeFor(job.prices, Math.min(countedTokens, PROVEN_TOKENS));
  const charge = smaller(price, job.lockedCredits);
  release(job, charge);
  pay(walk, job, charge);
  Object.assign(job, { status: 'settled', endedAt: books.now, chargedCredits: charge });
}

/** Shares a charge between worker and treasury; what cannot be paid now becomes claimable. */
function pay(walk: Walk, { worker, terms }: JobBook, charge: bigint): void {
  const { treasury } = walk.books;
  const ofTreasury = charge * BigInt(terms.treasuryShareBasisPoints);
  const vaultPays = !isFrozen(walk, addresses.vault);
  if (worker !== null && !(vaultPays && !isFrozen(walk, worker.party.payout))) {
    worker.claimableBaseUnits += charge * BASE_UNITS_PER_CREDIT - ofTreasury;
  }
  if (vaultPays && !isFrozen(walk, addresses.treasuryVault)) treasury.baseUnits += ofTreasury;
  else treasury.unpaidBaseUnits += ofTreasury;
}

/** Behind the instruction's discriminator. */
const REASON_OFFSET = 8;

export async function failJob(walk: Walk, job: JobBook): Promise<void> {
  const { key, mayAct, actor } = actorOf(walk, job);
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
  if (!(await attempt(walk, allowed, [instruction], [key]))) return;
  release(job);
  job.status = 'failed';
}

/** Gives a job's lock back when its time is over. */
export async function refundJob(walk: Walk, job: JobBook): Promise<void> {
  const allowed = holdsLock(job) && !isInTime(walk.books, job);
  const instruction = refund(partiesOf(walk, job), job.address);
  if (!(await attempt(walk, allowed, [instruction], []))) return;
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
  if (await attempt(walk, allowed, [jobClose({ job: job.address, rentPayer })], [])) {
    books.jobs = books.jobs.filter((other) => other !== job);
  }
}
