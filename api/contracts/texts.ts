import { z } from 'zod';

/** Lone surrogates cannot be encoded as UTF-8, so such a text has no hash that both sides share. */
export const wellFormedText = z
  .string({ error: 'must be a string' })
  .refine((text) => text.isWellFormed(), { error: 'must not contain lone surrogates' });

/**
 * A text of `min` to `max` characters. They are code points, as JSON Schema counts them, so that the
 * document says the same: many a character is two units of a JavaScript string.
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
