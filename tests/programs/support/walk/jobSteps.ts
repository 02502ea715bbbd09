import { createJobId, type JobStatus, jobLock } from '../../../../programs/client/index.ts';
import { readJob } from '../jobs.ts';
import { MODEL } from '../world.ts';
import {
  ARBITRATION_WINDOW_SECONDS,
  type Books,
  CLOSE_AFTER_SECONDS,
  DAY_SECONDS,
  DISPUTE_WINDOW_SECONDS,
  holdsLock,
  isInTime,
  type JobBook,
  lockFor,
  type WalletBook,
} from './books.ts';
import { disputeJob, expireJob, resolveJob } from './disputeActs.ts';
import {
  type Act,
  acknowledgeJob,
  closeJob,
  completeJob,
  failJob,
  proveJob,
  refundJob,
  settleJob,
} from './jobActs.ts';
import { attempt, pick, rarely, type Step, type Walk } from './walk.ts';

/** Few, so that most come to an end before their time is over. */
const JOBS_MAX = 6;
/** As much as any lock of the walk. */
const MOST_CREDITS = 40n;

/** Only a later day begins at zero. */
const spentOn = (day: bigint, { spentDay, spentTodayCredits }: WalletBook): bigint =>
  day > spentDay ? 0n : spentTodayCredits;

/** Whether the gateway may lock this much for the wallet now. */
function maySpend({ now, gateway }: Books, wallet: WalletBook, credits: bigint): boolean {
  const spent = spentOn(now / DAY_SECONDS, wallet) + credits;
  const isWithin = credits <= wallet.limitPerJobCredits && spent <= wallet.limitPerDayCredits;
  const isCovered = credits <= wallet.availableCredits;
  const isTrusted = wallet.trustsGateway && gateway.trustsHotSigner && !gateway.stopped;
  return isTrusted && isWithin && isCovered;
}

export const lock: Step = async (walk) => {
  const { world, books, random } = walk;
  const able = books.wallets.filter((item) => maySpend(books, item, MOST_CREDITS));
  const wallet = pick(walk, rarely(walk, 4) || able.length === 0 ? books.wallets : able);
  if (wallet === undefined || books.jobs.length >= JOBS_MAX) return;
  const { keypair, creditAccount } = wallet.party;
  const isGateways = !rarely(walk, 4);
  const signer = isGateways ? world.hotSigner : keypair;
  const tokenLimit = random.below(4_000);
  const { bytes, address } = createJobId({
    nowMs: Number(books.now) * 1_000,
    creditAccount,
    randomBytes: random.bytes,
  });
  const credits = lockFor(books.prices, tokenLimit);
  const maxCredits = credits - (rarely(walk, 10) ? 1n : 0n);
  const instruction = jobLock({
    ...{ payer: world.chain.payer.publicKey, signer: signer.publicKey, gateway: world.gateway },
    ...{ wallet: keypair.publicKey, modelId: MODEL.id, jobId: bytes, tokenLimit, maxCredits },
  });
  const isOffered = books.retiresAt === 0n || books.now < books.retiresAt;
  const allowed =
    !books.locksPaused &&
    isOffered &&
    tokenLimit > 0 &&
    credits <= maxCredits &&
    credits <= wallet.availableCredits &&
    (!isGateways || maySpend(books, wallet, credits));
  if (!(await attempt(walk, allowed, instruction))) return;
  const day = books.now / DAY_SECONDS;
  if (isGateways) {
    wallet.spentTodayCredits = spentOn(day, wallet) + credits;
    wallet.spentDay = day;
  }
  wallet.availableCredits -= credits;
  wallet.lockedCredits += credits;
  books.jobs.push({
    ...{
      address,
      status: 'pending',
      wallet,
      isGateways,
      worker: null,
      attempt: 0,
      outcome: 'none',
    },
    ...{ prices: { ...books.prices }, terms: { ...books.terms } },
    ...{ lockedAt: books.now, lockedCredits: credits, chargedCredits: 0n },
    limitDay: isGateways ? day : 0n,
    ...{ endedAt: 0n, disputedAt: 0n, disputedByWallet: false, provenBy: null },
    vouched: isGateways && books.gateway.vouched,
  });
};

/** A step about one of the jobs; afterwards the ledger gives it the same status. */
const onJob =
  (act: Act, isAsked: (books: Books, job: JobBook) => boolean = () => true): Step =>
  async (walk) => {
    const { books } = walk;
    const job = pick(
      walk,
      books.jobs.filter((item) => isAsked(books, item)),
    );
    if (job === undefined) return;
    await act(walk, job);
    if (!books.jobs.includes(job)) return;
    const found = await readJob(walk.world, job.address);
    if (found.status !== job.status) throw new Error(`a job is not ${job.status}`);
  };

/** Whether anything but waiting would bring the job to its end. */
const isMovable = ({ now }: Books, job: JobBook): boolean =>
  holdsLock(job) || job.status === 'disputed' || now >= job.lockedAt + CLOSE_AFTER_SECONDS;

/** What would bring the job to its end. */
function nextAct(walk: Walk, job: JobBook): Act {
  const { books } = walk;
  if (holdsLock(job) && !isInTime(books, job)) return refundJob;
  const isUndecided = books.now <= job.disputedAt + ARBITRATION_WINDOW_SECONDS;
  const isDisputable = job.outcome === 'none' && books.now <= job.endedAt + DISPUTE_WINDOW_SECONDS;
  const next: Record<JobStatus, Act> = {
    pending: rarely(walk, 3) ? completeJob : acknowledgeJob,
    processing: rarely(walk, 3) ? completeJob : proveJob,
    settling: settleJob,
    settled: isDisputable ? disputeJob : closeJob,
    failed: closeJob,
    refunded: closeJob,
    disputed: isUndecided && rarely(walk, 2) ? resolveJob : expireJob,
  };
  return next[job.status];
}

/** Half of the steps bring a job forward; the others are any, most of them refused. */
export const jobSteps: readonly Step[] = [
  acknowledgeJob,
  proveJob,
  settleJob,
  completeJob,
  failJob,
  refundJob,
  disputeJob,
  resolveJob,
  expireJob,
  closeJob,
].flatMap((act) => [onJob(act), onJob((walk, job) => nextAct(walk, job)(walk, job), isMovable)]);
