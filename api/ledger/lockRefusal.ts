import { fetchCreditAccount } from '../../programs/client/accounts.ts';
import { publicKeyOf } from '../../programs/client/publicKeyOf.ts';
import type { Outcome } from '../../programs/client/sender/outcome.ts';
import type { CreditAccount } from '../../programs/client/types.ts';
import { insufficientCredits, type Quote } from '../completion/quote.ts';
import { ApiError, serviceUnavailable } from '../errors.ts';
import { askNode, type LedgerContext } from './context.ts';
import { PriceChangedError } from './escrow.ts';

const SECONDS_PER_DAY = 86_400n;

/** What a client is told of the program's refusal. */
export async function lockRefusal(
  context: LedgerContext,
  outcome: Extract<Outcome, { status: 'rejected' }>,
  { quoted, wallet }: { quoted: Quote; wallet: string },
): Promise<Error> {
  const { error } = outcome;
  switch (error?.name) {
    case 'InsufficientCredits': {
      const account = await accountOf(context, wallet, outcome.slot);
      const available = account?.availableCredits ?? 0n;
      return available < quoted.lockCredits
        ? insufficientCredits(quoted, available)
        : new BalanceChangingError();
    }
    case 'DayLimitExceeded': {
      const account = await accountOf(context, wallet, outcome.slot);
      return account && leftToday(account, context.clock.nowSeconds()) >= quoted.lockCredits
        ? new BalanceChangingError()
        : new ApiError(
            'spending_limit_exceeded',
            "This request is above what is left of the wallet's limit for today.",
          );
    }
    case 'PriceChanged':
    case 'TokenLimitTooLarge':
      return new PriceChangedError();
    case 'JobLimitExceeded':
      return new ApiError(
        'spending_limit_exceeded',
        "This request is above the wallet's limit for one job.",
      );
    case 'SpenderNotSet':
      return new ApiError('spender_not_set', "The wallet's spender is not this service.");
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

/** Where it was refused by what others of its transaction would have taken: another try may do. */
export class BalanceChangingError extends ApiError {
  constructor() {
    super('service_unavailable', 'The balance was just changing; try again.', {
      retryAfterSeconds: 5,
    });
  }
}

/** As of the slot or later: other requests of the wallet may have ended since. */
async function accountOf(
  context: LedgerContext,
  wallet: string,
  slot: number,
): Promise<CreditAccount | null> {
  const { connection, commitment, addresses } = context;
  const { programId } = addresses;
  const address = addresses.creditAccount(publicKeyOf(wallet));
  const reading = { commitment, programId, minContextSlot: slot };
  return askNode(() => fetchCreditAccount(connection, address, reading));
}

/** Of the wallet's limit for a day of UTC, as the program counts it. */
function leftToday(account: CreditAccount, nowSeconds: bigint): bigint {
  const isSpentToday = account.spentDay === Number(nowSeconds / SECONDS_PER_DAY);
  return account.limitPerDayCredits - (isSpentToday ? account.spentTodayCredits : 0n);
}
