import type { z } from 'zod';
import type { ErrorCode } from './errorTable.ts';
import type { ResponseHeader } from './values.ts';

/**
 * Who may call a route from the web app's pages. `fresh session`: somebody who signed in less than 15
 * minutes ago. `operator`: a wallet of SVC_CONSOLE_OPERATORS. `arbiter`: that, or the ledger's arbiter.
 */
export type Access = 'public' | 'session' | 'fresh session' | 'operator' | 'arbiter';

/** Who may call a route at all. `key`: an API client by its key. */
export type Caller = 'key' | Access;

/**
 * One route: from it come its guards, its handler's types, the web app's client and, for keys, its part
 * of the OpenAPI document. Keys call it below `/v1`, pages below `/console/api`. So `/v1` never reads a
 * cookie, and the web app's API never a key.
 */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the root of its callers, in express's form. */
  readonly path: string;
  /** `key`, or one kind of access of pages, or both. */
  readonly callers: readonly Caller[];
  /** Whether the wallet has to have a credit account on the ledger. */
  readonly needsAccount?: true;
  /** Whether the wallet pays a job by it: it needs a live key, and this service as its spender. */
  readonly needsSpender?: true;
  /** Whether a public route reads the session. Without that, it needs no database. */
  readonly readsSession?: true;
  /** What it does for a page, for the list in docs/console.md. */
  readonly summary: string;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** The JSON answer; absent where `form` is another. */
  readonly answer?: z.ZodType;
  /** Bodies and answers are JSON, unless this says otherwise. */
  readonly form?: 'text/csv' | 'text/event-stream' | CompletionForm;
  /** What a page may ask, where it is more: every further field is optional. */
  readonly pageQuery?: z.ZodType;
  /** What a page gets, where it is more. */
  readonly pageAnswer?: z.ZodType;
  /** How the OpenAPI document describes it to holders of keys. */
  readonly docs?: RouteDocs;
}

export interface RouteDocs {
  readonly tag: 'Completions' | 'Models' | 'Jobs' | 'Account' | 'Webhooks';
  readonly summary: string;
  readonly description: string;
  /** What the parts of the path name. */
  readonly pathParameters?: Readonly<Record<string, string>>;
  readonly requestHeaders?: Readonly<Record<string, string>>;
  readonly headers?: readonly ResponseHeader[];
  /** Beyond those that every endpoint has. */
  readonly errors?: readonly ErrorCode[];
}

/** The formats in which a job is asked for. */
export type CompletionForm = 'chat completion' | 'response';

/** A route by its method, path and callers, which its handler's types follow from. */
export function route<
  const Method extends Route['method'],
  const Path extends string,
  const Callers extends Route['callers'],
  const Rest extends Omit<Route, 'method' | 'path' | 'callers'>,
>(
  method: Method,
  path: Path,
  callers: Callers,
  // A name that is not a route's own is a mistake.
  rest: Rest & Record<Exclude<keyof Rest, keyof Route>, never>,
) {
  return { method, path, callers, ...(rest as Rest) };
}

/** The kind of access that pages have to a route; undefined where it is for keys alone. */
export function pageAccess({ callers }: Pick<Route, 'callers'>): Access | undefined {
  return callers.find((caller): caller is Access => caller !== 'key');
}
