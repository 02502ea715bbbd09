import type pg from 'pg';
import { creditsNumber } from '../../../common/format.ts';
import {
  createKey,
  KeyExistsError,
  KeyNotFoundError,
  KeyReplacedError,
  regenerateKey,
  revokeKey,
} from '../../account/keys.ts';
import { SuspensionStateError, WalletSuspendedError } from '../../account/suspensions.ts';
import { ApiError } from '../../contracts/errors.ts';
import { hashKey, selectKeysAndAccounts, selectOpenSuspension } from '../../sql/accounts.ts';
import type { CreatedKey, settingsRoutes, Threshold } from '../contracts/settings.ts';
import { arrivedMsOf } from '../http/guard.ts';
import type { Handlers } from '../http/serveRoutes.ts';
import {
  selectLiveKey,
  selectThreshold,
  setThreshold,
  type ThresholdRow,
} from '../sql/settings.ts';

/** The indexer's default. */
const UNSET: ThresholdRow = { threshold_credits: 100n, is_low: false };

/** The wallet's API key, and the threshold of its low-credit alert. */
export function settingsHandlers({ pool }: { pool: pg.Pool }): Handlers<typeof settingsRoutes> {
  async function show(making: Promise<string>): Promise<CreatedKey> {
    const api_key = await asApiError(making);
    const [key] = await selectKeysAndAccounts(pool, [hashKey(api_key)]);
    return { api_key, created_at: (key?.created_at ?? new Date()).toISOString() };
  }

  return {
    async getKey({ session: { wallet } }) {
      const [key, suspension] = await Promise.all([
        selectLiveKey(pool, wallet),
        selectOpenSuspension(pool, wallet),
      ]);
      const why = {
        suspended_by: suspension?.suspended_by ?? null,
        suspension_reason: suspension?.reason ?? null,
      };
      const status = suspension ? 'suspended' : 'active';
      return {
        key: key ? { status, created_at: key.created_at.toISOString(), ...why } : null,
        ...(suspension && {
          suspension: {
            suspended_at: suspension.suspended_at.toISOString(),
            suspended_by: suspension.suspended_by,
            reason: suspension.reason,
          },
        }),
      };
    },
    postKey: ({ session: { wallet } }) => show(createKey(pool, wallet)),
    regenerateKey: ({ session: { wallet }, response }) =>
      show(regenerateKey(pool, wallet, arrivedMsOf(response))),
    async deleteKey({ session: { wallet } }) {
      await asApiError(revokeKey(pool, wallet));
      return { done: true };
    },
    async getThreshold({ session }) {
      return thresholdView((await selectThreshold(pool, session.wallet)) ?? UNSET);
    },
    async putThreshold({ session, body }) {
      return thresholdView(await setThreshold(pool, session.wallet, body.threshold_credits));
    },
  };
}

function thresholdView({ threshold_credits, is_low }: ThresholdRow): Threshold {
  return { threshold_credits: creditsNumber(threshold_credits), is_low };
}

/** @throws ApiError where the state of the wallet's key, or its suspension, refuses the change */
export async function asApiError<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    const found = REFUSALS.find(([kind]) => error instanceof kind);
    if (!found) throw error;
    const [, code, message = (error as Error).message] = found;
    throw new ApiError(code, message, { cause: error });
  }
}

/** The errors of keys and suspensions as the API names them; in their own words, where it has none. */
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
] as const;
