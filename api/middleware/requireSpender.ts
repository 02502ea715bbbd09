import type { RequestHandler } from 'express';
import { ApiError } from '../errors.ts';
import type { Payer } from '../statements/keyAndAccount.ts';
import { authenticated } from './authenticate.ts';

/**
 * Admits requests whose wallet lets this service spend, before their bodies are looked at.
 *
 * @param gateway the Gateway account that wallets name as their spender
 */
export function requireSpender(gateway: string): RequestHandler {
  return (_request, response, next) => {
    assertSpender(authenticated(response), gateway);
    next();
  };
}

/**
 * A wallet without an account passes: it has no credits, which is what it is told.
 *
 * @throws ApiError `spender_not_set`
 */
export function assertSpender({ spender }: Payer, gateway: string): void {
  if (spender === null || spender === gateway) return;
  throw new ApiError(
    'spender_not_set',
    `The wallet's spender is not this service. Set it to ${gateway} with spender_set.`,
  );
}
