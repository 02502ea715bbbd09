import type { PublicKey } from '@solana/web3.js';
import { within } from '../../common/wait.ts';
import { fetchCreditAccount } from '../../programs/client/accounts.ts';
import type { CreditAccount } from '../../programs/client/generated/types.ts';
import { jobLock } from '../../programs/client/instructions.ts';
import { publicKeyOf } from '../../programs/client/keys.ts';
import {
  LedgerUnavailableError,
  type Outcome,
  WithdrawnError,
} from '../../programs/client/sender/outcome.ts';
import { ApiError, serviceUnavailable } from '../contracts/errors.ts';
import { insufficientCredits } from '../jobs/admission.ts';
import {
  type Escrow,
  type JobDraft,
  jobDeadlines,
  type LockedJob,
  type LockPayer,
  LockUndecidedError,
  PriceChangedError,
  type Quote,
} from '../jobs/job.ts';
import { actor, type LedgerContext, readJob, retryRead } from './context.ts';
import { failJob } from './refund.ts';

const CHANGE_LIMITS =
  'The wallet changes that on the Credits page of the web app, or with `svc credits limits` (/packages/ has svc).';

const SECONDS_PER_DAY = 86_400n;

/** What a client is told of the program's refusal. */
async function lockRefusal(
  context: LedgerContext,
  { error, slot }: Extract<Outcome, { status: 'failed' }>,
  { quoted, payer }: { quoted: Quote; payer: LockPayer },
): Promise<Error> {
  switch (error?.name) {
    case 'InsufficientCredits': {
      const account = await accountOf(context, payer, slot);
      const available = account?.availableCredits ?? 0n;
      return available < quoted.lockCredits
        ? insufficientCredits(quoted, available)
        : new AccountChangingError();
    }
    case 'DayLimitExceeded': {
      const account = await accountOf(context, payer, slot);
      return account && leftToday(account, context.clock.nowSeconds()) >= quoted.lockCredits
        ? new AccountChangingError()
        : new ApiError(
            'spending_limit_exceeded',
            `This request is above what is left of the wallet's limit for today. ${CHANGE_LIMITS}`,
          );
    }
    case 'SpenderNotSet': {
      const account = await accountOf(context, payer, slot);
      return account?.spender.equals(context.gateway)
        ? new AccountChangingError()
        : new ApiError(
            'spender_not_set',
            `The wallet does not let this service spend its credits. ${CHANGE_LIMITS}`,
          );
    }
    case 'JobLimitExceeded':
      return new ApiError(
        'spending_limit_exceeded',
        `This request is above the wallet's limit for one job. ${CHANGE_LIMITS}`,
      );
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
 * since: another try may do.
 */
class AccountChangingError extends ApiError<'service_unavailable'> {
  constructor() {
    super('service_unavailable', 'The balance was just changing; try again.', {
      retryAfterSeconds: 5,
    });
  }
}

/**
 * As of the slot or later: other requests of the wallet may have ended since. And with every change
 * that the mirror has told of: a node that lacks one refused what was bought, or allowed, by it.
 *
 * @throws LedgerUnavailableError while no node has seen them
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

/** Of the wallet's limit for a day of UTC, as the program counts it. */
function leftToday(account: CreditAccount, nowSeconds: bigint): bigint {
  const isSpentToday = account.spentDay === Number(nowSeconds / SECONDS_PER_DAY);
  return account.limitPerDayCredits - (isSpentToday ? account.spentTodayCredits : 0n);
}

/**
 * A client is told to come back after this. A lock that is still unsent is withdrawn then; one that
 * was sent goes on being watched.
 */
const CONFIRMATION_WAIT_MS = 10_000;
/**
 * Once the first of the locks has waited so long for its turn, one that came now would hardly be
 * confirmed in time: it is refused at once instead of after a wait for nothing.
 */
const QUEUE_WAIT_MS_MAX = 5_000;
/** Of a lock that the balance on the ledger allows and the program refused. */
const TRIES_MAX = 3;
/** A constant of the program; it is copied into every Job. */
const JOB_TIMEOUT_SECONDS = 120n;

interface LockRequest {
  payer: LockPayer;
  quoted: Quote;
  draft: JobDraft;
  /** By the ledger's time before it was sent. */
  lockedAtEarliest: bigint;
}

/**
 * Locks credits for new jobs. Locks of one wallet that share a transaction are refused by what they
 * would take together, though some of them may never land: whether the wallet has too little, or too
 * little left of its day's limit, is known of a lock that was sent alone, as one is that was refused.
 */
export function createLock(context: LedgerContext): Escrow['lock'] {
  const { time, locks } = context;
  return async function lock(payer, quoted, draft) {
    const dueMs = time.nowMs() + CONFIRMATION_WAIT_MS;
    for (let tries = 1; ; tries += 1) {
      if (locks.waitedMs() >= QUEUE_WAIT_MS_MAX) {
        // By the time it comes back, all that waits now was sent or withdrawn.
        throw serviceUnavailable('More is asked than the ledger takes; come back later.');
      }
      const request = { payer, quoted, draft, lockedAtEarliest: context.clock.nowSeconds() };
      const givenUp = new AbortController();
      const sent = locks.add({ ...lockItem(context, request), signal: givenUp.signal });
      const outcome = await within(Math.max(0, dueMs - time.nowMs()), sent, time);
      if (!outcome) {
        givenUp.abort();
        throw new LockUndecidedError(takeBack(context, request, sent));
      }
      try {
        return await decide(context, outcome, request);
      } catch (error) {
        if (!(error instanceof AccountChangingError) || tries === TRIES_MAX) throw error;
      }
    }
  };
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
  return { instructions: lockBy, signers: [context.signer], key: payer.wallet };
}

/** Its request has ended without this job: a lock that still lands is taken back at once. */
function takeBack(
  context: LedgerContext,
  request: LockRequest,
  sent: Promise<Outcome>,
): LockUndecidedError['end'] {
  const end = sent
    .then((late) => decide(context, late, request))
    .then((locked) => failJob(context, locked, 'lock_late'))
    .then(() => 'undone' as const)
    .catch((error: unknown) => {
      if (isNoJob(error)) return 'undone';
      const { logger } = context;
      logger.error({ msg: 'Left a late lock to the keeper', job_id: request.draft.id, err: error });
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

function lockedJob(
  { clock }: Pick<LedgerContext, 'clock'>,
  { payer, quoted, draft, lockedAtEarliest }: LockRequest,
  escrowTx: string,
): LockedJob {
  const { id, address, creditAccount } = draft;
  const lockedAtLatest = clock.nowSeconds() + 1n;
  return {
    id,
    address,
    creditAccount,
    wallet: payer.wallet,
    ...quoted,
    escrowTx,
    lockedAtLatest,
    deadlines: jobDeadlines({
      lockedAtEarliest,
      lockedAtLatest,
      timeoutSeconds: JOB_TIMEOUT_SECONDS,
    }),
  };
}

async function decide(
  context: LedgerContext,
  outcome: Outcome,
  request: LockRequest,
): Promise<LockedJob> {
  switch (outcome.status) {
    case 'landed':
      return lockedJob(context, request, outcome.signature);
    case 'failed':
      throw await lockRefusal(context, outcome, request);
    case 'expired': {
      const landed = await readJob(context, request.draft.address, outcome);
      if (landed) return lockedJob(context, request, outcome.signature);
      throw serviceUnavailable('The ledger did not take the lock.');
    }
  }
}
