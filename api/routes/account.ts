import type { RequestHandler } from 'express';
import { creditsNumber, isoTime, usdcValue } from '../../runtime/jsonForms.ts';
import type { AccountObject } from '../contracts/account.ts';
import { authenticated } from '../middleware/authenticate.ts';

/** GET /v1/account: the balance that the key spends from; credits are those available, not locked. */
export function getAccount(): RequestHandler {
  return (_request, response) => {
    const { wallet, created_at, available_credits, last_topup_at } = authenticated(response);
    const credits = available_credits ?? 0n;
    response.json({
      wallet,
      credits_remaining: creditsNumber(credits),
      usdc_value: usdcValue(credits),
      last_topup_at: last_topup_at === null ? null : isoTime(last_topup_at),
      api_key_created_at: created_at.toISOString(),
    } satisfies AccountObject);
  };
}
