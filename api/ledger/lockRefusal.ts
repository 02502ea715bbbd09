import { fetchCreditAccount } from '../../programs/client/accounts.ts';
import { publicKeyOf } from '../../programs/client/publicKeyOf.ts';
import type { Outcome } from '../../programs/client/sender/outcome.ts';
import type { CreditAccount } from '../../programs/client/types.ts';
import { insufficientCredits, type Quote } from '../completion/quote.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import { askNode, type LedgerContext } from './context.ts';
import { type LockPayer, PriceChangedError } from './escrow.ts';

const SECONDS_PER_DAY = 86_400n;

/** What a client is told of the program's refusal. */
export async function lockRefusal(
  context: LedgerContext,
  { error, slot }: Extract<Outcome, { status: 'rejected' }>,
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
            "This request is above what is left of the wallet's limit for today.",
          );
    }
    case 'SpenderNotSet': {
      const account = await accountOf(context, payer, slot);
      return account?.spender.equals(context.gateway)
        ? new AccountChangingError()
        : new ApiError('spender_not_set', "The wallet's spender is not this service.");
    }
    case 'JobLimitExceeded':
      return new ApiError(
        'spending_limit_exceeded',
        "This request is above the wallet's limit for one job.",
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
export class AccountChangingError extends ApiError<'service_unavailable'> {
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
  return askNode(async () => {
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
