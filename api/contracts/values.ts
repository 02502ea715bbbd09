import { z } from 'zod';
import { time, tokens } from '../../common/contracts/values.ts';
import { canonicalJson, type Json } from '../../programs/client/proof.ts';
import { ApiError } from './errors.ts';

export {
  credits,
  jobId,
  ledgerAddress,
  sha256Hash,
  slot,
  time,
  tokens,
  transactionSignature,
  usdc,
} from '../../common/contracts/values.ts';

/** How many, or how much, of something. */
export const count = z.int().min(0);

export const unixSeconds = z.int().describe('Unix time in seconds.');

export const usage = z.object({
  prompt_tokens: tokens,
  completion_tokens: tokens,
  total_tokens: tokens,
});

/** Lone surrogates have no UTF-8, so both sides could not hash such a text alike. */
export const wellFormedText = z
  .string({ error: 'must be a string' })
  .refine((text) => text.isWellFormed(), { error: 'must not contain lone surrogates' });

/**
 * A text of `min` to `max` characters. They are code points, as in JSON Schema, so that the document
 * holds. Many characters are two units of a JavaScript string.
 */
export function textOfLength(min: number, max: number) {
  return wellFormedText
    .refine((text) => isOfLength(text, min, max), {
      error: `must have ${min} to ${max} characters`,
    })
    .meta({ minLength: min, maxLength: max });
}

function isOfLength(text: string, min: number, max: number): boolean {
  // No character is more than two units, so a text this long need not be taken apart.
  if (text.length > 2 * max) return false;
  const characters = [...text].length;
  return characters >= min && characters <= max;
}

/** Any JSON that has a canonical form, in which a worker commits to it; undefined counts as absent. */
export function canonical<Schema extends z.ZodType>(schema: Schema) {
  return schema.refine((value) => value === undefined || hasCanonicalForm(value as Json), {
    error: 'must not contain lone surrogates or integers beyond 2^53 - 1',
  });
}

function hasCanonicalForm(value: Json): boolean {
  try {
    canonicalJson(value);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** null counts as absent for every optional field. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** An absent value, or one of these forms. */
export function absentOr(error: string, forms: z.ZodType[]) {
  return z
    .union(
      [z.null(), z.array(z.unknown()).max(0, { error }), z.strictObject({}, { error }), ...forms],
      {
        error,
      },
    )
    .optional();
}

/** A part of the format that this service does not have: absent, or a value that means "off". */
export function unsupported(...off: z.ZodType[]) {
  return absentOr('is not supported', off).describe(
    'Our choice: not supported, and refused unless it is absent or off.',
  );
}

/** A field that is passed to the model server. Null and empty values count as absent. */
export function passed<Schema extends z.ZodType>(schema: Schema, error: string) {
  const given = absentOr(error, [schema]).transform((value) =>
    isEmpty(value) ? undefined : (value as z.output<Schema> | undefined),
  );
  return canonical(given);
}

export function isEmpty(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

/** An amount of 64 bits that may be above 2^53, in its smallest unit. */
export const amountText = z
  .string()
  .regex(/^\d{1,20}$/)
  .describe('An integer as decimal digits.');

export const timeNullable = time.nullable();

export const once = { error: 'must be given once' };

/** A time in a query or body, ISO 8601 with its offset. */
export const givenTime = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time' })
  .transform((text) => new Date(text))
  // A Date can have years that PostgreSQL cannot.
  .refine((date) => date.getUTCFullYear() >= 1970 && date.getUTCFullYear() < 10_000, {
    error: 'must be between the years 1970 and 9999',
  });

/** A JSON body with these fields. */
export const bodyOf = <Fields extends z.ZodRawShape>(fields: Fields) =>
  z.object(fields, { error: 'must be a JSON object' });

/** A wallet's address, as a person types it. */
export const walletAddress = z
  .string({ error: 'must be a string' })
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, { error: 'must be a ledger address' });

/** A row's id in the database: 64 bits, as text. */
export const rowId = z
  .string(once)
  .regex(/^[1-9]\d{0,17}$/, { error: 'must be an id' })
  .transform(BigInt);

export const pageLimit = (fallback: number) =>
  z
    .string(once)
    .regex(/^\d{1,3}$/, { error: 'must be an integer from 1 to 100' })
    .transform(Number)
    .pipe(z.int().min(1).max(100))
    .default(fallback);

/** @param order of the entries, in words */
export const listOf = <Entry extends z.ZodType>(entry: Entry, order: string) =>
  z.object({ object: z.literal('list'), data: z.array(entry).describe(order) });

/** One page of a list, newest first. */
export const pageOf = <Entry extends z.ZodType>(entry: Entry, use = 'as `before`') =>
  listOf(entry, 'Newest first.').extend({
    has_more: z.boolean(),
    next_cursor: z.string().nullable().describe(`Where to go on, ${use}.`),
  });

/** The answer of a request that returns no data. */
export const done = z.object({ done: z.literal(true) });

/** The response headers of the API beyond HTTP's own, by what they say; an OpenAPI document, CORS and the tests read it. */
export const responseHeaders = {
  'x-request-id': 'Our choice: names the request in our logs.',
  'x-svc-job-id': 'The job. Our choice: with every answer after a lock, errors too.',
  'x-svc-tx-signature':
    'The transaction that locked the credits. Our choice: with every answer after a lock, errors too.',
  link: 'Our choice: where a browser checks the job, as `describedby`; with every answer after a lock.',
  'x-svc-settlement-tx':
    'The settlement; of a stream a trailer. Our choice: absent if it is not confirmed within 10 s, ' +
    'of a stream 3 s.',
  'x-svc-worker': "The worker's address.",
  'x-svc-credits-remaining':
    'The balance after the request; of a stream a trailer. Our choice: absent with the settlement.',
  'x-svc-output-hash':
    'Our choice: the sha256 of the whole text, which the worker signed; of a stream a trailer.',
  'x-svc-delivery-receipt':
    'Our choice: our signature that this text was delivered, for a dispute; of a stream a trailer.',
  'x-svc-engine': 'Our choice: what the worker says of its engine.',
  'x-svc-truncated':
    'Our choice: `deadline` when the answer was cut off because its job had 15 s left; of a stream ' +
    '`svc.truncated` in the chunk with the finish reason. Without content in its last 20 s it fails ' +
    'instead, unpaid.',
  'x-svc-left-out-tools':
    'Our choice: the types of tools of a request of responses that the model is not offered.',
  'x-svc-replayed': 'Our choice: `true` when the answer is that of an earlier equal request.',
  'server-timing': 'Our choice: milliseconds for lock, worker, settlement and mirror.',
  'x-ratelimit-limit-requests':
    "Our choice: how many requests of one address this process takes at once; of an IPv6 address's /64.",
  'x-ratelimit-remaining-requests': 'Our choice: how many of them are left.',
  'x-ratelimit-reset-requests': 'Our choice: seconds until all are back, such as `5s`.',
  'retry-after': 'Seconds to wait before the request is repeated.',
  'x-should-retry': 'Our choice: `false` where repeating silently would only cost time.',
} as const satisfies Record<string, string>;

export type ResponseHeader = keyof typeof responseHeaders;

/** Headers of every answer. */
export const commonHeaders = [
  'x-request-id',
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-reset-requests',
] as const satisfies readonly ResponseHeader[];

/** Headers of every answer after the lock. */
export const lockHeaders = [
  'x-svc-job-id',
  'x-svc-tx-signature',
  'link',
] as const satisfies readonly ResponseHeader[];

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
  const parsed = schema.safeParse(value, { reportInput: false, error: faultOf });
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  // The path of a field that is not known ends before it.
  const isUnknown = issue?.code === 'unrecognized_keys' && issue.path.length === 0;
  const path = isUnknown ? issue.keys.slice(0, 1) : (issue?.path ?? []);
  const param = formatPath(path);
  const fault = issue?.message ?? 'is invalid';
  if (isUnknown) {
    throw new ApiError('invalid_request', `There is no parameter '${param}' here.`, { param });
  }
  if (param && valueAt(value, path) === undefined) {
    throw new ApiError('invalid_request', `'${param}' is required.`, { param });
  }
  throw new ApiError(
    'invalid_request',
    param ? `Invalid value for '${param}': ${fault}.` : `Invalid request body: ${fault}.`,
    { ...(param && { param }) },
  );
}

const KINDS: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'true or false',
  int: 'an integer',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
};

/** The message for a fault that the field's schema does not describe. */
function faultOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${KINDS[issue.expected] ?? 'of another type'}`;
    case 'too_small':
      return `must be at least ${issue.minimum}`;
    case 'too_big':
      return `must be at most ${issue.maximum}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'unrecognized_keys':
      return 'is not known';
    default:
      return 'has an invalid form';
  }
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[key],
    value,
  );
}

function formatPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}
