import type { RequestHandler } from 'express';

/** Two years, after each visit. */
const HSTS = 'max-age=63072000; includeSubDomains';

/**
 * Headers that keep a browser from doing more with an answer than show it. Pages widen the content
 * policy by what they need.
 *
 * @param options.isHttps whether clients reach the service by HTTPS, ours or a proxy's
 */
export function setSecurityHeaders({ isHttps }: { isHttps: boolean }): RequestHandler {
  const headers = {
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    ...(isHttps && { 'strict-transport-security': HSTS }),
  };
  return (_request, response, next) => {
    response.set(headers);
    next();
  };
}
