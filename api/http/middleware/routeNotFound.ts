import type { Express, Request, RequestHandler } from 'express';
import { closestMatch } from 'leven';
import { ApiError } from '../../contracts/errors.ts';
import { ENDPOINTS } from '../../contracts/network.ts';
import { html } from '../../docs/html.ts';
import type { Frame } from '../../docs/page.ts';

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
 *
 * A browser gets a page instead, which names the page whose path is nearest. Below routes that answer
 * with JSON it gets the error, as every client does.
 */
export function routeNotFound(
  app: Express,
  { publicUrl, frame }: { publicUrl: string; frame: Frame },
): RequestHandler {
  let known: Known[] | undefined;
  return (request, response) => {
    known ??= knownRoutes(app);
    const [path = ''] = request.originalUrl.split('?');
    const message = `There is no ${request.method} ${path}.${remedyOf(known, request, publicUrl)}`;
    response.vary('Accept');
    if (!wantsPage(request)) throw new ApiError('route_not_found', message);
    const page = nearestPage(known, path);
    const body = html`<h1>There is no such page</h1>
<p>${message}</p>
${page && html`<p>The nearest page is <a href="${page}">${page}</a>.</p>`}`;
    const { headers, text } = frame.drawAnswer({ title: 'There is no such page', body });
    response.status(404).set(headers).type('html').send(text);
  };
}

/** Paths of other formats, which clients of the newer ones try first. */
const OTHER_FORMATS: readonly string[] = ['messages', 'completions', 'embeddings'];
/** Below a response, whose id is `resp_` and that of its job. */
const STORED_RESPONSE = /^\/v1\/responses\/(?:resp_(job_[0-9a-f]{32}))?/;

function remedyOf(known: readonly Known[], request: Request, publicUrl: string): string {
  const [stored, jobId = '{job_id}'] = STORED_RESPONSE.exec(request.path) ?? [];
  if (stored !== undefined) {
    return ` No response is stored. Its job is at GET ${publicUrl}/v1/jobs/${jobId}`;
  }
  const asked = partsOf(request.path);
  const meant = nearest(known, request.method, asked);
  if (meant) {
    const methods = known.filter(({ path }) => path === meant.path).map(({ method }) => method);
    const takes = methods.includes(request.method) ? meant.method : methods.join(' or ');
    return ` Did you mean ${takes} ${publicUrl}${meant.path}?`;
  }
  if (!asked.some((part) => OTHER_FORMATS.includes(part))) return '';
  const addresses = ENDPOINTS.map((path) => `POST ${publicUrl}${path}`);
  return ` This service has two formats: ${addresses.join(' and ')}`;
}

/** Whose answers are never pages, nor those of what is below them. */
const NO_PAGES =
  /^\/(v\d+|health|ready|openapi\.json|packages|receipts|console\/(api|assets))(\/|$)/i;

function wantsPage(request: Request): boolean {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  return isRead && !NO_PAGES.test(request.path) && request.accepts('json', 'html') === 'html';
}

/** Fewer of its characters differ than this share. */
const NEAR = 0.5;

/** The page whose path differs least, unless all are far. */
function nearestPage(known: readonly Known[], path: string): string | undefined {
  const pages = known
    .filter(({ method, path: each }) => method === 'GET' && !/{|\.json$/.test(each))
    .map(({ path: each }) => each)
    .filter((each) => !NO_PAGES.test(each) && each !== '/');
  return closestMatch(path.toLowerCase(), pages, {
    maxDistance: Math.floor(path.length * NEAR),
  });
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

function partsOf(path: string): string[] {
  const parts = path.toLowerCase().split('/');
  return parts.filter((part) => part !== '' && !VERSION.test(part));
}

/** The longest route with which the path ends, of this method if there is one. */
function nearest(
  known: readonly Known[],
  method: string,
  asked: readonly string[],
): Known | undefined {
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
