import type { Express, Request, RequestHandler, Response } from 'express';
import type { z } from 'zod';
import { parseRequest } from '../../contracts/values.ts';
import { withBody } from '../../http/middleware/authentication.ts';
import { completionOf, parseJsonBody } from '../../http/middleware/requestBody.ts';
import type { ConsoleRoute } from '../contracts/route.ts';
import type { Session } from '../sessions/sessions.ts';
import { type GuardServices, guard, sessionOf } from './guard.ts';

const ROOT = '/console/api';

type ParamsOf<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { [Key in Name]: string } & ParamsOf<Rest>
  : Path extends `${string}:${infer Name}`
    ? { [Key in Name]: string }
    : unknown;

type Parsed<Route, Part extends string> = Route extends { readonly [Key in Part]: z.ZodType }
  ? z.output<Route[Part]>
  : undefined;

/** A request that was admitted and parsed. */
export interface Call<Route extends ConsoleRoute> {
  /** The caller's session. */
  session: Route['access'] extends 'public' ? Session | undefined : Session;
  params: ParamsOf<Route['path']>;
  query: Parsed<Route, 'query'>;
  body: Parsed<Route, 'body'>;
  request: Request;
  response: Response;
}

type AnswerOf<Route> = Route extends { readonly answer: z.ZodType }
  ? z.input<Route['answer']>
  : unknown;

/** One handler for each route: it returns the JSON answer, or writes an answer of another form. */
export type Handlers<Routes extends Record<string, ConsoleRoute>> = {
  readonly [Name in keyof Routes]: (
    call: Call<Routes[Name]>,
  ) => AnswerOf<Routes[Name]> | Promise<AnswerOf<Routes[Name]>>;
};

/** Serves the routes of one group. They are the app's own: a router would answer OPTIONS by itself. */
export function serveRoutes<Routes extends Record<string, ConsoleRoute>>(
  app: Express,
  routes: Routes,
  handlers: Handlers<Routes>,
  services: GuardServices,
): void {
  const json = parseJsonBody();
  const chat = parseJsonBody(services.largeBodies);
  for (const [name, route] of Object.entries<ConsoleRoute>(routes)) {
    const handle = handlers[name] as (call: Call<ConsoleRoute>) => unknown;
    const method = route.method.toLowerCase() as Lowercase<ConsoleRoute['method']>;
    const admit = guard(route, services);
    const read = route.form === 'chat completion' ? chat : json;
    const before = route.body ? withBody(read, admit) : admit;
    app[method](`${ROOT}${route.path}`, before, answer(route, handle));
  }
}

function answer(
  route: ConsoleRoute,
  handle: (call: Call<ConsoleRoute>) => unknown,
): RequestHandler {
  return async (request, response) => {
    const answered = await handle({
      session: sessionOf(response),
      params: request.params,
      query: route.query && parseRequest(route.query, request.query),
      body: bodyOf(route, request),
      request,
      response,
    } as Call<ConsoleRoute>);
    if (route.answer) response.json(answered);
  };
}

function bodyOf(route: ConsoleRoute, request: Request): unknown {
  if (route.form === 'chat completion') return completionOf(request);
  return route.body && parseRequest(route.body, request.body);
}
