import type { RequestHandler } from 'express';
import { responseHeaders } from '../contracts/headers.ts';

const EXPOSED = Object.keys(responseHeaders).join(', ');
const METHODS = 'GET, POST, DELETE';
/** What browsers keep of a preflight's answer at most. */
const PREFLIGHT_MAX_AGE_SECONDS = 7_200;

/**
 * Lets pages of these origins call the API; a page of any other gets its answers from the browser
 * without being able to read them. Nothing is a cookie here, so no credentials are allowed.
 *
 * A preflight carries no key and ends here, before any check.
 *
 * @param origins as browsers spell them, such as `https://console.example.com`
 */
export function allowOrigins(origins: readonly string[]): RequestHandler {
  const allowed = new Set(origins);
  return (request, response, next) => {
    response.vary('Origin');
    const origin = request.get('origin');
    if (origin === undefined || !allowed.has(origin)) return next();
    response.set({
      'access-control-allow-origin': origin,
      'access-control-expose-headers': EXPOSED,
    });
    const isPreflight =
      request.method === 'OPTIONS' && request.get('access-control-request-method') !== undefined;
    if (!isPreflight) return next();
    response.set({
      'access-control-allow-methods': METHODS,
      // Whatever the page wants to send: what the API does with a header is checked by the API.
      'access-control-allow-headers': request.get('access-control-request-headers') ?? '',
      'access-control-max-age': String(PREFLIGHT_MAX_AGE_SECONDS),
    });
    response.status(204).end();
  };
}
