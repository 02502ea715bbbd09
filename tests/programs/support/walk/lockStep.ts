import { createJobId, jobLock } from '../../../../programs/client/index.ts';
import { MODEL } from '../world.ts';
import { type Books, DAY_SECONDS, lockFor, type WalletBook } from './books.ts';
import { attempt, pick, rarely, type Step } from './walk.ts';

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
