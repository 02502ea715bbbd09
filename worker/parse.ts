import type { z } from 'zod';
import { WorkerError } from './errors.ts';

/** Enough to see what is wrong; a hostile body has thousands. */
const PATHS_MAX = 5;

/** @throws WorkerError `invalid_request` */
export function parseJson<Schema extends z.ZodType>(
  schema: Schema,
  body: unknown,
): z.infer<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(String(body));
  } catch {
    throw new WorkerError('invalid_request', 'The body is not JSON');
  }
  return parse(schema, value);
}

/** @throws WorkerError `invalid_request` naming the first such fields, never their content */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, PATHS_MAX);
  const paths = issues.map(({ path }) => path.join('.') || 'the body').join(', ');
  throw new WorkerError('invalid_request', `Missing or malformed: ${paths}`);
}
