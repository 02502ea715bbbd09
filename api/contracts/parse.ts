import type { z } from 'zod';
import { ApiError } from '../errors.ts';

/**
 * Parses what a client sent.
 *
 * @throws ApiError `invalid_request` whose `param` is the path of the first field at fault, such as
 *   `messages[2].content`, and whose message never quotes the value
 */
export function parseRequest<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.infer<Schema> {
  const parsed = schema.safeParse(value, { reportInput: false });
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const param = formatPath(issue?.path ?? []);
  const fault = issue?.message ?? 'is invalid';
  throw new ApiError(
    'invalid_request',
    param ? `Invalid value for '${param}': ${fault}.` : `Invalid request body: ${fault}.`,
    { ...(param && { param }) },
  );
}

function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}
