import type { Express, Request, RequestHandler, Response } from 'express';
import type { z } from 'zod';
import type { ResponsesRequest } from '../contracts/responses.ts';
import type { Caller, CompletionForm, Route } from '../contracts/route.ts';
import { parseRequest } from '../contracts/values.ts';
import { withBody } from '../http/middleware/authentication.ts';
import { type CompletionBodies, parseJsonBody } from '../http/middleware/requestBody.ts';
import type { Session } from '../sessions/sessions.ts';
import type { KeyAndAccount } from '../sql/accounts.ts';

type ParamsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { [Key in Name]: string } & ParamsOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? { [Key in Name]: string }
    : unknown;

type Parsed<Of, Part extends string> = Of extends { readonly [Key in Part]: z.ZodType }
  ? z.output<Of[Part]>
  : undefined;

type Who<Of extends Route> = Of['callers'][number];
type HasKey<Of extends Route> = Of extends { readonly needsSpender: true } ? true : false;

/** A request that was admitted and parsed. */
export interface Call<Of extends Route = Route> {
  /** Whose request it is. */
  wallet: 'public' extends Who<Of> ? string | undefined : string;
  /** The live key of the request, or of its session's wallet where the route needs a spender. */
  key:
    | KeyAndAccount
    | (HasKey<Of> extends true ? never : 'key' extends Who<Of> ? undefined : never);
  /** The session of a page; undefined for keys, and for anybody on a public route. */
  session: Extract<Who<Of>, 'key' | 'public'> extends never ? Session : Session | undefined;
  params: ParamsOf<Of['path']>;
  query: Of extends { readonly pageQuery: z.ZodType }
    ? z.output<Of['pageQuery']>
    : Parsed<Of, 'query'>;
  body: Of extends { readonly form: 'response' } ? ResponsesRequest : Parsed<Of, 'body'>;
  request: Request;
  response: Response;
}

type AnswerOf<Of> =
  | (Of extends { readonly answer: z.ZodType } ? z.input<Of['answer']> : unknown)
  | (Of extends { readonly pageAnswer: z.ZodType } ? z.input<Of['pageAnswer']> : never);

/** One handler for each route: it returns the JSON answer, or writes an answer of another form. */
export type Handlers<Routes extends Record<string, Route>> = {
  readonly [Name in keyof Routes]: (
    call: Call<Routes[Name]>,
  ) => Routes[Name] extends { readonly form: string }
    ? unknown
    : AnswerOf<Routes[Name]> | Promise<AnswerOf<Routes[Name]>>;
};

/** Where one kind of callers comes in. */
export interface Entrance {
  root: '/v1' | '/console/api';
  isOpenTo(caller: Caller): boolean;
  /** What admits a request, before its body is read. It leaves who came in `response.locals`. */
  guard(route: Route): RequestHandler;
  queryOf(route: Route): z.ZodType | undefined;
}

/**
 * Serves those of the routes that are for the callers of an entrance. They are the app's own: a router
 * would answer OPTIONS by itself.
 */
export function serveRoutes<Routes extends Record<string, Route>>(
  app: Express,
  routes: Routes,
  handlers: Handlers<Routes>,
  { entrance, bodies }: { entrance: Entrance; bodies: CompletionBodies },
): void {
  const json = parseJsonBody();
  for (const [name, route] of Object.entries<Route>(routes)) {
    if (!route.callers.some(entrance.isOpenTo)) continue;
    const handle = handlers[name] as unknown as (call: Call) => unknown;
    const method = route.method.toLowerCase() as Lowercase<Route['method']>;
    const guard = entrance.guard(route);
    const form = completionFormOf(route);
    const read = form ? parseJsonBody({ ...bodies, form }) : json;
    const before = route.body ? withBody(read, guard) : [guard];
    const query = entrance.queryOf(route);
    app[method](`${entrance.root}${route.path}`, before, answer(route, query, handle));
  }
}

const completionFormOf = ({ form }: Route): CompletionForm | undefined =>
  form === 'chat completion' || form === 'response' ? form : undefined;

function answer(
  route: Route,
  query: z.ZodType | undefined,
  handle: (call: Call) => unknown,
): RequestHandler {
  return async (request, response) => {
    const { key, session } = response.locals;
    const answered = await handle({
      wallet: (key ?? session)?.wallet,
      key,
      session,
      params: request.params,
      query: query && parseRequest(query, request.query),
      body: bodyOf(route, request),
      request,
      response,
    } as Call);
    if (route.form === undefined) response.json(answered);
  };
}

function bodyOf(route: Route, request: Request): unknown {
  // It was parsed as it was read.
  if (completionFormOf(route)) return request.body;
  return route.body && parseRequest(route.body, request.body);
}
