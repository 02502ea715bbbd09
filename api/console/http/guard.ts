import type { Request, RequestHandler, Response } from 'express';
import { ApiError, accountRequired } from '../../contracts/errors.ts';
import type { LargeBodies } from '../../http/largeBodies/largeBodies.ts';
import type { Limit } from '../../http/middleware/burstLimit.ts';
import { requireReadablePath } from '../../http/middleware/malformedHttp.ts';
import type { ConsoleRoute } from '../contracts/route.ts';
import type { Session, Sessions } from '../sessions/sessions.ts';
import { readSessionCookie } from './cookie.ts';

export interface GuardServices {
  largeBodies: LargeBodies;
  sessions: Pick<Sessions, 'find'>;
  walletLimit: Limit;
  /** The pages' origin. No other may change anything. */
  publicUrl: string;
}

/** Admits the requests that a route is for, before their bodies are read. */
export function guard(route: ConsoleRoute, services: GuardServices): RequestHandler {
  const { sessions, walletLimit } = services;
  const { origin } = new URL(services.publicUrl);
  return async (request, response, next) => {
    response.locals.arrivedMs ??= performance.now();
    response.set('cache-control', 'no-store');
    if (route.method !== 'GET') assertOwnPage(request, origin);
    const isRead = route.access !== 'public' || route.readsSession;
    const token = isRead ? readSessionCookie(request) : undefined;
    const session = token === undefined ? undefined : await sessions.find(token);
    if (session) walletLimit.spend(session.wallet);
    assertAdmitted(route, session);
    response.locals.session = session;
    requireReadablePath(request);
    next();
  };
}

/** The time of a request, by `performance.now()`. */
export function arrivedMsOf(response: Response): number {
  return response.locals.arrivedMs as number;
}

/** The session of a request; undefined on public routes without one, or that read none. */
export function sessionOf(response: Response): Session | undefined {
  return response.locals.session as Session | undefined;
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
function assertAdmitted(
  { access, needsAccount }: ConsoleRoute,
  session: Session | undefined,
): void {
  if (access === 'public') return;
  if (!session) throw new ApiError('session_required', 'Sign in with your wallet first.');
  if (access === 'fresh session' && !session.is_fresh) {
    throw new ApiError(
      'fresh_sign_in_required',
      'Keys, secrets and webhook endpoints take a sign-in less than 15 minutes old. Sign in again.',
    );
  }
  if (needsAccount && !session.has_account) throw accountRequired();
  const isArbiter = session.is_arbiter || session.is_operator;
  if ((access === 'operator' && !session.is_operator) || (access === 'arbiter' && !isArbiter)) {
    throw new ApiError('not_permitted', `This is for an ${access} of the service.`);
  }
}
