import { Ajv, type AnySchema } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

/**
 * Malformed keywords fail without a check of the whole schema, which costs more than all the rest. A
 * format only describes, and a reference to another document is never followed.
 */
const LENIENT = {
  strict: false,
  logger: false,
  meta: false,
  validateSchema: false,
  validateFormats: false,
  ownProperties: true,
} as const;

/**
 * Compiles a JSON Schema by the rules of 2020-12, or of draft 7 where `$schema` names an older draft.
 * A client's schema may ask for any work and memory, so it belongs into a thread with limits.
 *
 * @throws Error for a schema that is none
 */
export function compileSchema(schema: AnySchema): (value: unknown) => boolean {
  const { $schema } = Object(schema) as { $schema?: unknown };
  const Validator = String($schema).includes('/draft-0') ? Ajv : Ajv2020;
  return new Validator(LENIENT).compile(schema);
}
