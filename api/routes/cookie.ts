import type { Request, Response } from 'express';

/**
 * `__Host-` binds it to this host, without its subdomains, and to HTTPS; browsers take loopback for
 * as safe.
 */
const NAME = '__Host-svc_session';
const ATTRIBUTES = 'Path=/; HttpOnly; Secure; SameSite=Strict';
/** The longest that a session can last. */
const MAX_AGE_SECONDS = 7 * 86_400;

/** The token of the session cookie; undefined where none was sent, or more than one. */
export function readSessionCookie(request: Request): string | undefined {
  const cookies = (request.get('cookie') ?? '').split(';').map((cookie) => cookie.trim());
  const [token, ...others] = cookies
    .filter((cookie) => cookie.startsWith(`${NAME}=`))
    .map((cookie) => cookie.slice(NAME.length + 1));
  return others.length === 0 ? token : undefined;
}

export function setSessionCookie(response: Response, token: string): void {
  response.append('set-cookie', `${NAME}=${token}; ${ATTRIBUTES}; Max-Age=${MAX_AGE_SECONDS}`);
}

export function clearSessionCookie(response: Response): void {
  response.append('set-cookie', `${NAME}=; ${ATTRIBUTES}; Max-Age=0`);
}
