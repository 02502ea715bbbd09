import type { z } from 'zod';
import { WorkerError } from './errors.ts';

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

/** @throws WorkerError `invalid_request` naming the fields, never their content */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const paths = parsed.error.issues.map(({ path }) => path.join('.')).join(', ');
  throw new WorkerError('invalid_request', `Missing or malformed: ${paths}`);
}
