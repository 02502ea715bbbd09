import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { z } from 'zod';
import { STATUS_OF_WORKER_ERROR } from '../../runtime/workerErrorCodes.ts';
import { readBoundedJson } from './boundedJson.ts';

/** A worker did not do its part. */
export class WorkerFailedError extends Error {
  override name = 'WorkerFailedError';
  /** The worker's word, if it is one of the protocol's, or ours for what it left out. */
  readonly code: string;
  /** Set when the worker works and only had no place. */
  readonly busy: { retryAfterMs: number | undefined } | undefined;

  constructor(code: string, options: ErrorOptions & { busy?: WorkerFailedError['busy'] } = {}) {
    super(`The worker failed: ${code}`, options);
    this.code = code;
    this.busy = options.busy;
  }
}

/** Codes end up in the log, where a text must not: what is no word of the protocol is not repeated. */
const code = z
  .string()
  .transform((word) => (Object.hasOwn(STATUS_OF_WORKER_ERROR, word) ? word : 'unknown_code'));

/** The form of a refusal, and of an error event in the middle of an answer. */
export const errorBody = z.object({ error: z.object({ code }) });

/** In seconds; the other form, a date, would depend on the worker's clock. */
const retryAfter = z.coerce.number().int().positive();

const busyCodes: ReadonlySet<string> = new Set(['no_free_slot', 'shutting_down']);
const TOO_MANY_REQUESTS = 429;

/** What a worker's answer that is no answer says: why, and whether it was merely busy. */
export async function readRefusal(response: Dispatcher.ResponseData): Promise<WorkerFailedError> {
  const { statusCode, headers } = response;
  const body = errorBody.safeParse(await readBoundedJson(response.body).catch(() => undefined));
  const code = body.success ? body.data.error.code : `status_${statusCode}`;
  if (statusCode !== TOO_MANY_REQUESTS && !busyCodes.has(code)) {
    return new WorkerFailedError(code);
  }
  const seconds = retryAfter.safeParse(headerOf(headers, 'retry-after')).data;
  const retryAfterMs = seconds === undefined ? undefined : seconds * 1_000;
  return new WorkerFailedError(code, { busy: { retryAfterMs } });
}

/** A header that is given once; null without it. */
export function headerOf(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' ? value : null;
}
