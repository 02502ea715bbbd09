import type { Keypair } from '@solana/web3.js';
import type { DisputeOutcome } from '../../../../programs/client/generated/vocabulary.ts';
import { disputeExpire, verdictInstruction } from '../../../../programs/client/index.ts';
import { evidenceFor } from '../../../../testing/kit/jobInstructions.ts';
import { ANSWER, dispute, readJob } from '../jobs.ts';
import { BASE_UNITS_PER_CREDIT, hashOf } from '../world.ts';
import {
  ARBITRATION_WINDOW_SECONDS,
  type Books,
  DISPUTE_WINDOW_SECONDS,
  type JobBook,
  smaller,
} from './books.ts';
import { actorOf, controllerOf, partiesOf } from './jobActs.ts';
import { attempt, choose, rarely, type Walk } from './walk.ts';

export async function disputeJob(walk: Walk, job: JobBook): Promise<void> {
  const { books } = walk;
  const { wallet } = job;
  const { key, mayAct, actor } = actorOf(walk, job);
  const isWallets = rarely(walk, 2);
  const signer = isWallets ? wallet.party.keypair : key;
  const clientHash = rarely(walk, 8) ? ANSWER : hashOf('something else');
  const isAmendment = isWallets && job.status === 'disputed' && !job.disputedByWallet;
  const choice = { ...actor, signer: signer.publicKey, clientHash };
  const instruction = dispute(partiesOf(walk, job), job.address, choice);
  if (isAmendment) {
    const isOpen = books.now <= job.disputedAt + ARBITRATION_WINDOW_SECONDS;
    const allowed = isOpen && clientHash !== ANSWER;
    if (await attempt(walk, allowed, instruction)) job.disputedByWallet = true;
    return;
  }
  const allowed =
    (isWallets || mayAct) &&
    job.status === 'settled' &&
    job.outcome === 'none' &&
    books.now <= job.endedAt + DISPUTE_WINDOW_SECONDS &&
    clientHash !== ANSWER &&
    wallet.openDisputes < openDisputesMaxOf(walk, job, signer);
  if (!(await attempt(walk, allowed, instruction))) return;
  const disputedByWallet = signer === wallet.party.keypair;
  Object.assign(job, { status: 'disputed', disputedAt: books.now, disputedByWallet });
  wallet.openDisputes += 1;
  books.treasury.exposureBaseUnits += repayableOf(job) * BASE_UNITS_PER_CREDIT;
}

/** At most all of the charge for a vouched gateway, else what the treasury got of it. */
const repayableOf = (job: JobBook): bigint => (job.vouched ? job.chargedCredits : shareOf(job));

/** In whole credits. */
const shareOf = ({ chargedCredits, terms }: JobBook): bigint =>
  (chargedCredits * BigInt(terms.treasuryShareBasisPoints)) / 10_000n;

/** The wallet's own signature goes twice as far as its controller's, and no count past 255. */
const openDisputesMaxOf = ({ books }: Walk, { wallet }: JobBook, signer: Keypair): number => {
  const { openDisputesMax } = books.terms;
  const isWallet = signer === wallet.party.keypair;
  return isWallet ? Math.min(2 * openDisputesMax, 255) : openDisputesMax;
};

export async function resolveJob(walk: Walk, job: JobBook): Promise<void> {
  const { world, books } = walk;
  const verdict = choose<DisputeOutcome>(
    walk,
    'none',
    'rejected',
    'upheld_gateway',
    'upheld_worker',
    'upheld_worker',
    'upheld_worker',
    'expired',
  );
  const arbiter = rarely(walk, 10) ? world.stranger : world.arbiter;
  const { creditAccount, worker } = partiesOf(walk, job);
  const parties = { proofKey: job.provenBy ?? world.proofKey, hotSigner: controllerOf(walk, job) };
  const account = await readJob(world, job.address);
  const hasEvidence = !rarely(walk, 6);
  const given = evidenceFor(parties, job.address, account, verdict);
  const instruction = verdictInstruction(hasEvidence ? given : [], {
    ...{ arbiter: arbiter.publicKey, job: job.address, creditAccount, worker, verdict },
    gateway: world.gateway,
  });
  const allowed =
    arbiter === world.arbiter &&
    job.status === 'disputed' &&
    books.now > job.endedAt + DISPUTE_WINDOW_SECONDS &&
    books.now <= job.disputedAt + ARBITRATION_WINDOW_SECONDS &&
    verdict !== 'none' &&
    verdict !== 'expired' &&
    (hasEvidence || verdict === 'rejected');
  if (!(await attempt(walk, allowed, instruction))) return;
  const isBorne = verdict !== 'upheld_worker' || slash(books, job);
  const repaid = isBorne ? repayableOf(job) : shareOf(job);
  endDispute(books, job, verdict);
  if (verdict === 'rejected') return;
  job.wallet.owedCredits += repaid;
  Object.assign(job, { status: 'refunded', chargedCredits: job.chargedCredits - repaid });
}

const endDispute = ({ treasury }: Books, job: JobBook, outcome: DisputeOutcome): void => {
  job.wallet.openDisputes -= 1;
  treasury.exposureBaseUnits -= repayableOf(job) * BASE_UNITS_PER_CREDIT;
  Object.assign(job, { status: 'settled', outcome });
};

/** Takes what is there, first of the stake, then of what is unstaking. @returns if that was all */
function slash({ treasury }: Books, { worker, terms }: JobBook): boolean {
  if (worker === null) throw new Error('a disputed job has a worker');
  const tokens = BigInt(terms.slashTokens);
  const ofStake = smaller(tokens, worker.stakeTokens);
  const ofUnstaking = smaller(tokens - ofStake, worker.unstakingTokens);
  worker.stakeTokens -= ofStake;
  worker.unstakingTokens -= ofUnstaking;
  if (worker.unstakingTokens === 0n) worker.unstakeReadyAt = 0n;
  treasury.slashedTokens += ofStake + ofUnstaking;
  return ofStake + ofUnstaking === tokens;
}

/** Ends a dispute that was not decided in time. */
export async function expireJob(walk: Walk, job: JobBook): Promise<void> {
  const { books } = walk;
  const isOver = books.now > job.disputedAt + ARBITRATION_WINDOW_SECONDS;
  const { creditAccount } = job.wallet.party;
  const instruction = disputeExpire({ job: job.address, creditAccount });
  if (await attempt(walk, job.status === 'disputed' && isOver, instruction)) {
    endDispute(books, job, 'expired');
  }
}
