import type pg from 'pg';
import { creditsNumber } from '../../common/format.ts';
import { createKey, regenerateKey, revokeKey } from '../account/keys.ts';
import { asApiError } from '../account/refusals.ts';
import type { CreatedKey, settingsRoutes, Threshold } from '../contracts/settings.ts';
import { selectOpenSuspension } from '../sql/accounts.ts';
import {
  selectLiveKey,
  selectThreshold,
  setThreshold,
  type ThresholdRow,
} from '../sql/settings.ts';
import type { Handlers } from './serveRoutes.ts';

/** The indexer's default. */
const UNSET: ThresholdRow = { threshold_credits: 100n, is_low: false };

/** The wallet's API key, and the threshold of its low-credit alert. */
export function settingsHandlers({ pool }: { pool: pg.Pool }): Handlers<typeof settingsRoutes> {
  async function show(making: Promise<string>, wallet: string): Promise<CreatedKey> {
    const api_key = await asApiError(making);
    const key = await selectLiveKey(pool, wallet);
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
        key: key
          ? {
              status,
              created_at: key.created_at.toISOString(),
              last_used_at: key.last_used_at?.toISOString() ?? null,
              ...why,
            }
          : null,
        ...(suspension && {
          suspension: {
            suspended_at: suspension.suspended_at.toISOString(),
            suspended_by: suspension.suspended_by,
            reason: suspension.reason,
          },
        }),
      };
    },
    postKey: ({ session: { wallet } }) => show(createKey(pool, wallet), wallet),
    regenerateKey: ({ session: { wallet }, response }) =>
      show(regenerateKey(pool, wallet, response.locals.arrivedMs), wallet),
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
