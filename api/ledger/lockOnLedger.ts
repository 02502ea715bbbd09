import type { PublicKey } from '@solana/web3.js';
import { within } from '../../common/wait.ts';
import { PROOF_BEFORE_END_SECONDS, STOP_BEFORE_END_SECONDS } from '../../common/workerProtocol.ts';
import { fetchCreditAccount } from '../../programs/client/accounts.ts';
import { JOB_TIMEOUT_SECONDS, NO_LIMIT } from '../../programs/client/generated/constants.ts';
import type { CreditAccount } from '../../programs/client/generated/types.ts';
import { jobLock } from '../../programs/client/instructions.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import { affordableTokens } from '../../programs/client/pricing.ts';
import { COSTS } from '../../programs/client/sender/costs.ts';
import {
  LedgerUnavailableError,
  type SendResult,
  WithdrawnError,
} from '../../programs/client/sender/sendResult.ts';
import { ApiError, serviceUnavailable } from '../contracts/errors.ts';
import {
  aboveDayLimit,
  aboveJobLimit,
  balanceTooSmall,
  type Day,
  spenderRemoved,
} from '../contracts/walletErrors.ts';
import type { Funds } from '../sql/accounts.ts';
import { type ModelRow, priceOf } from '../sql/workers.ts';
import { actor, type LedgerContext, readJob, retryRead } from './context.ts';
import {
  type JobDeadlines,
  type JobDraft,
  type LockedJob,
  type LockPayer,
  LockUndecidedError,
  PriceChangedError,
  type Quote,
} from './job.ts';
import { failOnLedger } from './refundOnLedger.ts';

/**
 * The longest wait of a request for its lock. A lock that is still unsent is withdrawn then; one
 * that was sent is followed to its end.
 */
const CONFIRMATION_WAIT_MS = 10_000;
/**
 * Once the first waiting lock has waited so long for its turn, a new one would hardly be confirmed
 * in time. It is refused at once, so that its client does not wait in vain.
 */
const QUEUE_WAIT_MS_MAX = 5_000;
/** Retries of a lock that was refused although the balance suffices. */
const TRIES_MAX = 3;

interface LockRequest {
  payer: LockPayer;
  quoted: Quote;
  draft: JobDraft;
  /** Called each time the lock was sent. */
  onSent: () => void;
}

/** One try, with the ledger's time before it was sent. */
type LockTry = LockRequest & { lockedAtEarliest: bigint };

/**
 * Locks credits for a new job. Locks of one wallet that share a transaction are refused by what they
 * take together, though some may never land. Only a lock that was sent alone shows that the balance
 * or the day's limit is too small. After a refusal, the next try is sent alone.
 *
 * @throws as `Escrow.lock` says
 */
export async function lockOnLedger(
  context: LedgerContext,
  request: LockRequest,
): Promise<LockedJob> {
  const { time, locks, clock, float } = context;
  const dueMs = time.nowMs() + CONFIRMATION_WAIT_MS;
  for (let tries = 1; ; tries += 1) {
    if (locks.waitedMs() >= QUEUE_WAIT_MS_MAX) {
      // After the Retry-After, all locks that wait now are sent or withdrawn.
      throw serviceUnavailable('Too many requests are waiting for the ledger. Retry later.');
    }
    if (!(await float.allowsLock())) {
      throw serviceUnavailable(
        'The service has too little SOL for new jobs. Retry later.',
        new Error('SVC_SIGNER_KEY has less than 0.05 SOL'),
      );
    }
    const tried = { ...request, lockedAtEarliest: clock.nowSeconds() };
    let isGivenUp = false;
    const { onSent } = request;
    const item = { ...lockItem(context, tried), isWanted: () => !isGivenUp, onSent };
    const sent = float.count(locks.add(item));
    const result = await within(Math.max(0, dueMs - time.nowMs()), sent, time);
    if (!result) {
      isGivenUp = true;
      throw new LockUndecidedError(undoLate(context, tried, sent));
    }
    try {
      return await decide(context, result, tried);
    } catch (error) {
      if (!(error instanceof AccountChangingError) || tries === TRIES_MAX) throw error;
    }
  }
}

/** What a lock adds to a transaction. */
function lockItem(context: LedgerContext, { payer, quoted, draft }: LockRequest) {
  const lockBy = (feePayer: PublicKey) => [
    jobLock({
      ...actor(context),
      // The fee payer pays the Job's rent, too, so that it needs no second signature.
      payer: feePayer,
      wallet: publicKeyOf(payer.wallet),
      modelId: quoted.model.id,
      jobId: draft.bytes,
      tokenLimit: quoted.tokenLimit,
      maxCredits: quoted.lockCredits,
    }),
  ];
  const sending = { instructions: lockBy, signers: [context.signer], costs: [COSTS.job_lock] };
  return { ...sending, key: payer.wallet };
}

/** @throws as `Escrow.lock` says, and AccountChangingError where another try may succeed */
async function decide(
  context: LedgerContext,
  result: SendResult,
  tried: LockTry,
): Promise<LockedJob> {
  switch (result.status) {
    case 'landed':
      return lockedJob(context, tried, result);
    case 'failed':
      throw await lockRefusal(context, result, tried);
    case 'expired': {
      const landed = await readJob(context, tried.draft.address, result);
      if (landed) return lockedJob(context, tried, result);
      throw serviceUnavailable('The ledger did not take the lock.');
    }
  }
}

function lockedJob(
  { clock }: Pick<LedgerContext, 'clock'>,
  { payer, quoted, draft, lockedAtEarliest }: LockTry,
  { signature: escrowTx, slot: escrowSlot }: { signature: string; slot: number },
): LockedJob {
  const { id, address, creditAccount, requestSalt } = draft;
  const lockedAtLatest = clock.nowSeconds() + 1n;
  return {
    id,
    address,
    creditAccount,
    requestSalt,
    wallet: payer.wallet,
    ...quoted,
    escrowTx,
    escrowSlot,
    lockedAtLatest,
    deadlines: jobDeadlines({ lockedAtEarliest, lockedAtLatest }),
  };
}

/**
 * The job with the prices and the lock that the program charges by. They are not the quoted ones where
 * the model's price has changed since, and the program refuses only a lock above the quoted one.
 *
 * @throws LedgerUnavailableError
 */
export async function readPriced(context: LedgerContext, job: LockedJob): Promise<LockedJob> {
  const landed = await readJob(context, job.address, { slot: job.escrowSlot, signature: null });
  // A job that is gone was closed after its end, and is charged no more.
  if (!landed) return job;
  const model: ModelRow = {
    ...job.model,
    credits_per_request: landed.creditsPerRequest,
    credits_per_1k_tokens: landed.creditsPer1kTokens,
    long_completion_threshold_tokens: landed.longCompletionThresholdTokens,
  };
  return { ...job, model, lockCredits: landed.lockedCredits };
}

/** What the client reads of the program's refusal. */
async function lockRefusal(
  context: LedgerContext,
  { error, slot }: Extract<SendResult, { status: 'failed' }>,
  { quoted, payer }: LockRequest,
): Promise<Error> {
  switch (error?.name) {
    case 'InsufficientCredits':
    case 'JobLimitExceeded':
    case 'DayLimitExceeded': {
      const funds = fundsOf(await accountOf(context, payer, slot));
      return lockObstacle(quoted, funds, context.clock.nowSeconds()) ?? new AccountChangingError();
    }
    case 'SpenderNotSet': {
      const account = await accountOf(context, payer, slot);
      return account?.spender.equals(context.gateway)
        ? new AccountChangingError()
        : spenderRemoved();
    }
    case 'PriceChanged':
    case 'TokenLimitTooLarge':
      return new PriceChangedError();
    case 'Unauthorized':
      // Not the wallet's fault: it lets the Gateway spend, and we sign for that with another key.
      return serviceUnavailable(
        'The service cannot lock credits now.',
        new Error('SVC_SIGNER_KEY is no signer of the Gateway SVC_GATEWAY'),
      );
    case 'ModelRetired':
      return new ApiError('model_not_found', 'This model is retired.', { param: 'model' });
    case 'LocksPaused':
    case 'GatewayStopped':
      return serviceUnavailable('New jobs are paused.');
    default:
      return serviceUnavailable(
        'The ledger refused the lock.',
        new Error(`refused as ${error.name}`),
      );
  }
}

/**
 * Refused by what others of its transaction would have taken, or by an account that has changed
 * since: another try may succeed.
 */
class AccountChangingError extends ApiError<'service_unavailable'> {
  constructor() {
    super('service_unavailable', 'The balance was just changing; try again.', {
      retryAfterSeconds: 5,
    });
  }
}

/**
 * Reads the account as of the slot or later, since other requests of the wallet may have ended. It
 * has every change that the mirror has: a node that lacks one refused what that change allows.
 *
 * @throws LedgerUnavailableError while no node has them
 */
async function accountOf(
  context: LedgerContext,
  payer: LockPayer,
  slot: number,
): Promise<CreditAccount | null> {
  const { connection, commitment, addresses } = context;
  const { programId } = addresses;
  const address = addresses.creditAccount(publicKeyOf(payer.wallet));
  const reading = { commitment, programId, minContextSlot: slot };
  return retryRead(context, async () => {
    const account = await fetchCreditAccount(connection, address, reading);
    if ((account?.sequence ?? 0n) >= (payer.sequence ?? 0n)) return account;
    throw new Error('The node is behind the mirror');
  });
}

/** As the mirror has them. */
function fundsOf(account: CreditAccount | null): Funds {
  return {
    available_credits: account?.availableCredits ?? null,
    limit_per_job_credits: account?.limitPerJobCredits ?? null,
    limit_per_day_credits: account?.limitPerDayCredits ?? null,
    spent_day: account ? BigInt(account.spentDay) : null,
    spent_today_credits: account?.spentTodayCredits ?? null,
  };
}

const DAY_SECONDS = 86_400n;
/**
 * Why an account does not bear a lock; undefined where it does. A balance that is too small comes
 * first: no limit would help there.
 *
 * @param nowSeconds the ledger's time
 */
export function lockObstacle(
  quoted: Quote,
  funds: Funds,
  nowSeconds: bigint,
): ApiError | undefined {
  const { lockCredits } = quoted;
  const available = funds.available_credits ?? 0n;
  if (available < lockCredits) return insufficientCredits(quoted, available);
  const limit = funds.limit_per_job_credits ?? NO_LIMIT;
  if (limit < lockCredits) return aboveJobLimit(lockCredits, limit, fittingTokens(quoted, limit));
  const day = dayOf(funds, nowSeconds);
  if (day.left >= lockCredits) return undefined;
  return aboveDayLimit(lockCredits, day, fittingTokens(quoted, day.left));
}

/** The largest `max_tokens` whose lock these credits cover; 0 where no request of the model fits. */
export function fittingTokens({ model }: Pick<Quote, 'model'>, credits: bigint): number {
  return Math.min(affordableTokens(priceOf(model), credits), model.context_window_tokens);
}

/** The day's limit as the program counts it: only a later day has a new sum. */
function dayOf(funds: Funds, nowSeconds: bigint): Day {
  const limit = funds.limit_per_day_credits ?? NO_LIMIT;
  const spentDay = funds.spent_day ?? 0n;
  const today = nowSeconds / DAY_SECONDS;
  const isNew = today > spentDay;
  const left = limit - (isNew ? 0n : (funds.spent_today_credits ?? 0n));
  const endsAt = ((isNew ? today : spentDay) + 1n) * DAY_SECONDS;
  // A limit that was lowered may be below what it counts already.
  return { limit, left: left < 0n ? 0n : left, endsAt };
}

/** The refusal of a request whose lock costs more than the wallet has. */
export function insufficientCredits(
  { model, lockCredits }: Pick<Quote, 'model' | 'lockCredits'>,
  availableCredits: bigint,
): ApiError {
  const affordableMaxTokens = fittingTokens({ model }, availableCredits);
  return balanceTooSmall({ model, lockCredits, availableCredits, affordableMaxTokens });
}

/** Fails the job at once if its lock lands after all, since its request has ended without it. */
function undoLate(
  context: LedgerContext,
  tried: LockTry,
  sent: Promise<SendResult>,
): LockUndecidedError['end'] {
  const end = sent
    .then((late) => decide(context, late, tried))
    .then((locked) => failOnLedger(context, locked, 'lock_late'))
    .then(() => 'undone' as const)
    .catch((error: unknown) => {
      if (isNoJob(error)) return 'undone';
      const { logger } = context;
      logger.error({ msg: 'Left a late lock to the keeper', job_id: tried.draft.id, err: error });
      return 'left';
    });
  context.lateLocks.add(end);
  return end;
}

/** The lock was refused, or never sent. */
function isNoJob(error: unknown): boolean {
  if (error instanceof LedgerUnavailableError) return error.signature === null;
  return [WithdrawnError, ApiError, PriceChangedError].some((kind) => error instanceof kind);
}

export function jobDeadlines(options: {
  lockedAtEarliest: bigint;
  lockedAtLatest: bigint;
  /** Default: what the program gives every new job. */
  timeoutSeconds?: bigint;
}): JobDeadlines {
  const { lockedAtEarliest, lockedAtLatest } = options;
  const { timeoutSeconds = BigInt(JOB_TIMEOUT_SECONDS) } = options;
  const endEarliest = lockedAtEarliest + timeoutSeconds;
  return {
    stopAt: endEarliest - STOP_BEFORE_END_SECONDS,
    proofDueAt: endEarliest - PROOF_BEFORE_END_SECONDS,
    refundableAt: lockedAtLatest + timeoutSeconds + 1n,
  };
}
