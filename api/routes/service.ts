import type { RequestHandler } from 'express';
import type { Readiness } from '../status/readiness.ts';

/** GET /health: the process is up; 503 once it has begun to end, so that balancers leave it. */
export function getHealth(options: { isDraining: () => boolean }): RequestHandler {
  return (_request, response) => {
    const isDraining = options.isDraining();
    response.status(isDraining ? 503 : 200).json({ status: isDraining ? 'draining' : 'ok' });
  };
}

/** GET /ready: 200 while all that a completion needs is there; else 503 and which part is not. */
export function getReadiness(options: { readiness: () => Promise<Readiness> }): RequestHandler {
  return async (_request, response) => {
    const { status, parts } = await options.readiness();
    response
      .status(status === 'ready' ? 200 : 503)
      .set('cache-control', 'no-store')
      .json({ status, parts });
  };
}
