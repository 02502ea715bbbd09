import { z } from 'zod';
import { canonical } from './values.ts';

// The forms that a completion's fields have in common.

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
