import type { RequestHandler } from 'express';
import { ApiError } from '../errors.ts';
import { authenticated } from './authenticate.ts';

/**
 * Admits requests whose wallet lets this service spend, before their bodies are looked at. A wallet
 * without an account passes: it has no credits, which is what it is told.
 *
 * @param gateway the Gateway account that wallets name as their spender
 */
export function requireSpender(gateway: string): RequestHandler {
  return (_request, response, next) => {
    const { spender } = authenticated(response);
    if (spender !== null && spender !== gateway) {
      throw new ApiError(
        'spender_not_set',
        `The wallet's spender is not this service. Set it to ${gateway} with spender_set.`,
      );
    }
    next();
  };
}
