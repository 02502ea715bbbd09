import type pg from 'pg';
import { creditsNumber } from '../../../common/jsonForms.ts';
import {
  createKey,
  KeyExistsError,
  KeyNotFoundError,
  regenerateKey,
  revokeKey,
} from '../../account/keys.ts';
import { ApiError } from '../../http/contracts/errors.ts';
import type { CreatedKey, settingsRoutes, Threshold } from '../contracts/settings.ts';
import type { Handlers } from '../http/serveRoutes.ts';
import {
  selectLiveKey,
  selectThreshold,
  setThreshold,
  type ThresholdRow,
} from '../sql/settings.ts';

/** What the indexer takes where a wallet has set none. */
const UNSET: ThresholdRow = { threshold_credits: 100n, is_low: false };

/** The wallet's API key, and the threshold of its low-credit alert. */
export function settingsHandlers({ pool }: { pool: pg.Pool }): Handlers<typeof settingsRoutes> {
  async function show(wallet: string, making: Promise<string>): Promise<CreatedKey> {
    const api_key = await explained(making);
    const key = await selectLiveKey(pool, wallet);
    return { api_key, created_at: (key?.created_at ?? new Date()).toISOString() };
  }

  return {
    async getKey({ session }) {
      const key = await selectLiveKey(pool, session.wallet);
      if (!key) return { key: null };
      const { status, created_at, suspended_by, suspension_reason } = key;
      return {
        key: { status, created_at: created_at.toISOString(), suspended_by, suspension_reason },
      };
    },
    postKey: ({ session: { wallet } }) => show(wallet, createKey(pool, wallet)),
    regenerateKey: ({ session: { wallet } }) => show(wallet, regenerateKey(pool, wallet)),
    async deleteKey({ session: { wallet } }) {
      await explained(revokeKey(pool, wallet));
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

/** @throws ApiError where the wallet has a key already, or none that can be changed */
export async function explained<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof KeyExistsError) {
      const message = 'The wallet has a live key already: regenerate it, or revoke it first.';
      throw new ApiError('key_exists', message, { cause: error });
    }
    if (error instanceof KeyNotFoundError) {
      const message = 'The wallet has no key that this could change.';
      throw new ApiError('key_not_found', message, { cause: error });
    }
    throw error;
  }
}
