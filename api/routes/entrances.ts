import type { Request, RequestHandler } from 'express';
import type { Database } from '../../common/postgres.ts';
import { asApiError } from '../account/refusals.ts';
import { assertNotSuspended } from '../account/suspensions.ts';
import { ApiError, accountRequired } from '../contracts/errors.ts';
import { pageAccess, type Route } from '../contracts/route.ts';
import {
  assertSpender,
  authenticate,
  type BurstLimit,
  type KeyAdmission,
  type Limit,
} from '../http/middleware/authentication.ts';
import { requireReadablePath } from '../http/middleware/everyRequest.ts';
import type { Session, Sessions } from '../sessions/sessions.ts';
import type { KeyAndAccount } from '../sql/accounts.ts';
import { selectLiveKey } from '../sql/settings.ts';
import { readSessionCookie } from './cookie.ts';
import type { Entrance } from './serveRoutes.ts';

export interface KeyServices {
  keys: KeyAdmission;
  refusals: BurstLimit;
  gateway: string;
}

/** Where API clients come in, by their key. */
export function keyEntrance(services: KeyServices): Entrance {
  return {
    root: '/v1',
    isOpenTo: (caller) => caller === 'key',
    guard: (route) => authenticate(route, services),
    queryOf: ({ query }) => query,
  };
}

interface PageServices {
  database: Database;
  keys: KeyAdmission;
  gateway: string;
  sessions: Pick<Sessions, 'find'>;
  walletLimit: Limit;
  /** The pages' origin. No other may change anything. */
  publicUrl: string;
}

/** Where the web app's pages come in, by the cookie of their session. */
export function pageEntrance(services: PageServices): Entrance {
  return {
    root: '/console/api',
    isOpenTo: (caller) => caller !== 'key',
    guard: (route) => guardPage(route, services),
    queryOf: ({ query, pageQuery }) => pageQuery ?? query,
  };
}

function guardPage(route: Route, services: PageServices): RequestHandler {
  const { sessions, walletLimit } = services;
  const { origin } = new URL(services.publicUrl);
  return async (request, response, next) => {
    response.locals.arrivedMs ??= performance.now();
    response.set('cache-control', 'no-store');
    if (route.method !== 'GET') assertOwnPage(request, origin);
    const isRead = pageAccess(route) !== 'public' || route.readsSession;
    const token = isRead ? readSessionCookie(request) : undefined;
    const session = token === undefined ? undefined : await sessions.find(token);
    if (session) walletLimit.spend(session.wallet);
    assertAdmitted(route, session);
    const key = route.needsSpender && session && (await admitPayer(services, session));
    // Seals copies of answers: a secret of this session, which we do not keep either.
    Object.assign(response.locals, { session, key, secret: token });
    requireReadablePath(request);
    next();
  };
}

/**
 * The cookie comes with requests of our own pages alone (SameSite=Strict). This holds where a
 * browser does not know that, and against pages of the same site.
 *
 * @throws ApiError `origin_refused`
 */
function assertOwnPage(request: Request, origin: string): void {
  const isJson = /^application\/json *(;|$)/i.test(request.get('content-type') ?? '');
  if (request.get('origin') === origin && isJson) return;
  throw new ApiError(
    'origin_refused',
    `Changes are taken from pages of ${origin} alone, as application/json.`,
  );
}

/** @throws ApiError of a session that is missing, not fresh, of another wallet, or of one without an account */
function assertAdmitted(route: Route, session: Session | undefined): void {
  const access = pageAccess(route);
  if (access === 'public') return;
  if (!session) throw new ApiError('session_required', 'Sign in with your wallet first.');
  if (access === 'fresh session' && !session.is_fresh) {
    throw new ApiError(
      'fresh_sign_in_required',
      'Keys, secrets and webhook endpoints take a sign-in less than 15 minutes old. Sign in again.',
    );
  }
  if (route.needsAccount && !session.has_account) throw accountRequired();
  const isArbiter = session.is_arbiter || session.is_operator;
  if ((access === 'operator' && !session.is_operator) || (access === 'arbiter' && !isArbiter)) {
    throw new ApiError('not_permitted', `This is for an ${access} of the service.`);
  }
}

/**
 * The live key of a session's wallet, under which its jobs run. As for every request of `/v1`, a
 * suspension holds at once.
 *
 * @throws ApiError where the wallet has none, or may not spend by it
 */
async function admitPayer(
  { database, keys, gateway }: PageServices,
  { wallet }: Session,
): Promise<KeyAndAccount> {
  const key = await selectLiveKey(database, wallet);
  if (!key) {
    await asApiError(assertNotSuspended(database, wallet));
    throw new ApiError('key_not_found', 'Make an API key first: jobs run under it.');
  }
  const payer = await keys.admit(key.key_sha256);
  assertSpender(payer, gateway);
  return payer;
}
