import type { z } from 'zod';

/**
 * Who may call a route of the web app. `fresh session`: somebody who signed in less than 15 minutes
 * ago. `operator`: a wallet of SVC_CONSOLE_OPERATORS. `arbiter`: that, or the ledger's arbiter.
 */
export type Access = 'public' | 'session' | 'fresh session' | 'operator' | 'arbiter';

/** One route of the web app's API. Bodies and answers are JSON, unless `form` says otherwise. */
export interface ConsoleRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below /console/api, in express's form. */
  readonly path: string;
  readonly access: Access;
  /** Whether the wallet has to have a credit account on the ledger. */
  readonly needsAccount?: true;
  /** Whether a public route reads the session. Without that, it needs no database. */
  readonly readsSession?: true;
  /** What it does, for the list in docs/console.md. */
  readonly summary: string;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** The JSON answer; absent where `form` is another. */
  readonly answer?: z.ZodType;
  readonly form?: 'text/csv' | 'text/event-stream' | 'chat completion';
}

/** A route by its method, path and access, which its handler's types follow from. */
export function route<
  const Method extends ConsoleRoute['method'],
  const Path extends string,
  const Who extends Access,
  const Rest extends Omit<ConsoleRoute, 'method' | 'path' | 'access'>,
>(
  method: Method,
  path: Path,
  access: Who,
  // A name that is not a route's own is a mistake.
  rest: Rest & Record<Exclude<keyof Rest, keyof ConsoleRoute>, never>,
) {
  return { method, path, access, ...(rest as Rest) };
}
