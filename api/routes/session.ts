import { ApiError } from '../contracts/errors.ts';
import type { ConsoleConfig, sessionRoutes } from '../contracts/session.ts';
import type { BurstLimit } from '../http/middleware/authentication.ts';
import { type Sessions, sessionView } from '../sessions/sessions.ts';
import { clearSessionCookie, setSessionCookie } from './cookie.ts';
import type { Handlers } from './serveRoutes.ts';

/** Signing in and out, and the settings that the pages need before. */
export function sessionHandlers(services: {
  sessions: Sessions;
  /** Failed sign-ins are limited with refused keys, apart from other requests. */
  refusals: BurstLimit;
  /** Limits sign-ins: each leaves rows, and wallets cost nothing. */
  signIns: BurstLimit;
  describe: () => Promise<ConsoleConfig>;
}): Handlers<typeof sessionRoutes> {
  const { sessions, refusals, signIns, describe } = services;
  return {
    getConfig: describe,
    postMessage: ({ body }) => sessions.message(body.address),
    async postSession({ body, request, response }) {
      signIns.spend(request);
      try {
        const started = await sessions.start(body, request.get('user-agent') ?? '');
        setSessionCookie(response, started.token);
        return sessionView(started.session);
      } catch (error) {
        if (error instanceof ApiError) refusals.spend(request);
        throw error;
      }
    },
    getSession: ({ session }) => ({ session: session ? sessionView(session) : null }),
    async deleteSession({ session, response }) {
      await sessions.end(session);
      clearSessionCookie(response);
      return { done: true };
    },
    async getSessions({ session }) {
      const rows = await sessions.list(session.wallet);
      const data = rows.map((row) => ({
        id: row.id,
        is_current: row.id === session.id,
        signed_in_at: row.signed_in_at.toISOString(),
        last_used_at: row.last_used_at.toISOString(),
        expires_at: row.expires_at.toISOString(),
        browser: row.browser,
      }));
      return { object: 'list', data };
    },
    async deleteSessionOf({ session, params, response }) {
      await sessions.end({ wallet: session.wallet, id: params.session_id });
      if (params.session_id === session.id) clearSessionCookie(response);
      return { done: true };
    },
  };
}
