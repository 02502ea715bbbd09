import { BudgetSpentError } from '../../webhookOperations/budget.ts';
import { DuplicateWebhookError } from '../../webhookOperations/editWebhook.ts';
import { WebhookDisabledError, WebhookNotFoundError } from '../../webhookOperations/webhooks.ts';
import { ApiError } from '../contracts/errors.ts';
import { KeyExistsError, KeyNotFoundError, KeyReplacedError } from './keys.ts';
import { SuspensionStateError, WalletSuspendedError } from './suspensions.ts';

/** The errors of keys, suspensions and webhooks as the API names them. They keep their words where none stand here. */
const REFUSALS = [
  [
    KeyExistsError,
    'key_exists',
    'The wallet has a live key already: regenerate it, or revoke it first.',
  ],
  [
    KeyReplacedError,
    'key_replaced',
    'Another request has just replaced the key, and its key is live.',
  ],
  [KeyNotFoundError, 'key_not_found', 'The wallet has no key that this could change.'],
  [WalletSuspendedError, 'key_suspended'],
  [SuspensionStateError, 'key_not_found'],
  [WebhookNotFoundError, 'webhook_not_found'],
  [WebhookDisabledError, 'webhook_disabled'],
] as const;

/** @throws ApiError where the state of a key, a suspension or a webhook, or a budget, refuses the work */
export async function asApiError<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof BudgetSpentError) {
      const { message, limit, limitOf: limit_of, retryAfterSeconds } = error;
      const options = { retryAfterSeconds, details: { limit, limit_of }, cause: error };
      throw new ApiError('rate_limit_exceeded', message, options);
    }
    if (error instanceof DuplicateWebhookError) {
      const details = { webhook_id: error.webhookId };
      throw new ApiError('duplicate_webhook', error.message, { details, cause: error });
    }
    const found = REFUSALS.find(([kind]) => error instanceof kind);
    if (!found) throw error;
    const [, code, message = (error as Error).message] = found;
    throw new ApiError(code, message, { cause: error });
  }
}
