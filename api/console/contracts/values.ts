import { z } from 'zod';
import { time } from '../../contracts/values.ts';

/** Values that several contracts of the web app share. */

/** An amount of 64 bits that may be above 2^53, in its smallest unit. */
export const amountText = z
  .string()
  .regex(/^\d{1,20}$/)
  .describe('An integer as decimal digits.');

export const timeNullable = time.nullable();

const once = { error: 'must be given once' };

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
