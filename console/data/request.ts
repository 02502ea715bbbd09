import type { z } from 'zod';
import type { ErrorBody, ErrorCode, routes } from '../../api/contracts/index.ts';
import { noteServiceTime } from './serviceTime.ts';

type Routes = (typeof routes)[keyof typeof routes];
type Method = Routes['method'];
export type PathOf<Verb extends Method> = Extract<Routes, { method: Verb }>['path'];
type RouteOf<Verb extends Method, Path> = Extract<Routes, { method: Verb; path: Path }>;

/** What a route of the console's API answers, as its contract says. */
export type AnswerOf<Verb extends Method, Path> =
  RouteOf<Verb, Path> extends { pageAnswer: infer Answer extends z.ZodType }
    ? z.output<Answer>
    : RouteOf<Verb, Path> extends { answer: infer Answer extends z.ZodType }
      ? z.output<Answer>
      : never;
export type BodyOf<Verb extends Method, Path> =
  RouteOf<Verb, Path> extends { body: infer Body extends z.ZodType } ? z.input<Body> : undefined;
type QueryOf<Verb extends Method, Path> =
  RouteOf<Verb, Path> extends { pageQuery: infer Query extends z.ZodType }
    ? Optional<z.input<Query>>
    : RouteOf<Verb, Path> extends { query: infer Query extends z.ZodType }
      ? Optional<z.input<Query>>
      : undefined;
type Optional<Query> = { [Name in keyof Query]?: Query[Name] | undefined };

interface Parts<Verb extends Method, Path> {
  /** What stands for `:name` in the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: QueryOf<Verb, Path>;
  readonly body?: BodyOf<Verb, Path>;
  readonly signal?: AbortSignal | undefined;
}

export const API = '/console/api';

/** The API refused a request; its message is for people. */
export class RequestError extends Error {
  override name = 'RequestError';
  /** Null where something else than the API answered. */
  readonly code: ErrorCode | null;
  readonly status: number;
  readonly param: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;

  constructor(response: Response, body: Partial<ErrorBody> | undefined) {
    super(body?.error?.message ?? `The service answered with status ${response.status}.`);
    this.code = body?.error?.code ?? null;
    this.status = response.status;
    this.param = body?.error?.param ?? null;
    this.details = body?.error?.details ?? {};
    this.retryAfterSeconds = Number(response.headers.get('retry-after')) || undefined;
  }
}

/** No answer came: nothing is known of what the request did. */
class UnreachableError extends Error {
  override name = 'UnreachableError';

  constructor(cause: unknown) {
    super('The service did not answer. You may be offline.', { cause });
  }
}

/** Above the API's own time limit for its database: an answer that takes longer will not come. */
const READ_MS_MAX = 20_000;

/** Where a route is, with its parameters and query. */
export function addressOf(
  path: string,
  { params = {}, query = {} }: { params?: Parts<Method, string>['params']; query?: object } = {},
): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') search.set(name, String(value));
  }
  return `${API}${filled}${search.size > 0 ? `?${search}` : ''}`;
}

/**
 * Calls a route of the console's API.
 *
 * @throws RequestError when it refuses, UnreachableError when no answer comes
 */
export async function call<Verb extends Method, Path extends PathOf<Verb>>(
  method: Verb,
  path: Path,
  parts: Parts<Verb, Path> = {},
): Promise<AnswerOf<Verb, Path>> {
  const address = addressOf(path, parts as object);
  const read = async (signal = parts.signal) =>
    (await (await send(method, address, { ...parts, signal })).json()) as AnswerOf<Verb, Path>;
  return method === 'GET' ? withinLimit(read, parts.signal) : read();
}

/** @throws UnreachableError once the time for an answer is over */
async function withinLimit<Answer>(
  read: (signal: AbortSignal) => Promise<Answer>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), READ_MS_MAX);
  try {
    return await read(signal ? AbortSignal.any([signal, limit.signal]) : limit.signal);
  } catch (error) {
    throw limit.signal.aborted ? new UnreachableError(error) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** The answer as it is, for routes that answer in another form. @throws as `call` does */
export async function send(
  method: Method,
  address: string,
  { body, signal }: { readonly body?: unknown; readonly signal?: AbortSignal | undefined } = {},
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address, {
      method,
      headers: method === 'GET' ? {} : { 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    throw new UnreachableError(cause);
  }
  noteServiceTime(response);
  if (response.ok) return response;
  throw new RequestError(response, await readError(response));
}

/** A proxy before the API may answer in another form. */
async function readError(response: Response): Promise<ErrorBody | undefined> {
  try {
    return (await response.json()) as ErrorBody;
  } catch {
    return undefined;
  }
}
