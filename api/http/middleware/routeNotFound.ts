import type { Express, Request, RequestHandler } from 'express';
import { ApiError } from '../../contracts/errors.ts';

/** A route, with the parts of its path. */
interface Known {
  method: string;
  /** `/v1/models/{model_id}` */
  path: string;
  /** Without the version; undefined for a parameter. */
  parts: readonly (string | undefined)[];
}

const VERSION = /^v\d+$/i;

/**
 * Answers requests that no route takes. Where the path ends like that of a route, the answer names that
 * route's address: the base URL may lack `/v1` or have it twice.
 */
export function routeNotFound(app: Express, publicUrl: string): RequestHandler {
  let known: Known[] | undefined;
  return (request) => {
    known ??= knownRoutes(app);
    const [path] = request.originalUrl.split('?');
    const meant = nearest(known, request);
    const remedy = meant ? ` Did you mean ${meant.method} ${publicUrl}${meant.path}?` : '';
    throw new ApiError('route_not_found', `There is no ${request.method} ${path}.${remedy}`);
  };
}

function knownRoutes(app: Express): Known[] {
  return app.router.stack.flatMap(({ route }) => {
    if (!route || typeof route.path !== 'string' || route.path.includes('*')) return [];
    const named = route.path.split('/').filter((part) => part !== '');
    const own = VERSION.test(named[0] ?? '') ? named.slice(1) : named;
    const known = {
      path: `/${named.map((part) => part.replace(/^:(.*)$/, '{$1}')).join('/')}`,
      parts: own.map((part) => (part.startsWith(':') ? undefined : part.toLowerCase())),
    };
    const methods = new Set(route.stack.map(({ method }) => method.toUpperCase()));
    return [...methods].map((method) => ({ method, ...known }));
  });
}

/** The longest route with which the path ends, of this method if there is one. */
function nearest(known: readonly Known[], { path, method }: Request): Known | undefined {
  const asked = path
    .toLowerCase()
    .split('/')
    .filter((part) => part !== '' && !VERSION.test(part));
  const [first] = known
    .filter(({ parts }) => parts.length > 0 && parts.length <= asked.length)
    .filter(({ parts }) => {
      const end = asked.slice(-parts.length);
      return parts.every((part, place) => part === undefined || part === end[place]);
    })
    .sort(
      (one, other) =>
        other.parts.length - one.parts.length ||
        Number(other.method === method) - Number(one.method === method),
    );
  return first;
}
