import type { RequestHandler } from 'express';
import type { Readiness } from '../services/readiness.ts';

/** GET /health: the process is up. */
export function getHealth(): RequestHandler {
  return (_request, response) => {
    response.json({ status: 'ok' });
  };
}

/** GET /ready: 200 while database, ledger and a worker can be reached; else 503 and which cannot. */
export function getReadiness(options: { readiness: () => Promise<Readiness> }): RequestHandler {
  return async (_request, response) => {
    const { isReady, parts } = await options.readiness();
    const status = isReady ? 'ready' : 'not_ready';
    response
      .status(isReady ? 200 : 503)
      .set('cache-control', 'no-store')
      .json({ status, parts });
  };
}
